"""A run file whose checksums fit, and whose contents were made up: refused, whatever it claims."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from forged import Array, Header, forge, forge_tensor
from PySide6.QtWidgets import QApplication

from gptviz.cli import main
from gptviz.runs.errors import RunFileError
from gptviz.session import run_opening_jobs
from gptviz.session.worker import JobContext


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory, qapp: QApplication) -> bytes:
    """The bytes of a file to be forged."""
    path = tmp_path_factory.mktemp("run") / "run.gptviz"
    assert main(["record", str(path), "Hello, I am", "--config", "tiny"]) == 0
    return path.read_bytes()


def _with_step(header: Header, **other: object) -> None:
    """Put one step into the generation that no pass has made."""
    step = {"chosen": {"id": 1, "logit": 0.0, "probability": 0.5}, "candidates": [], "context_tokens": 4}
    generation = header["view"]["generation"]
    generation["nodes"] = [{**step, **other}]
    generation["branches"][0]["tip"] = generation["shown"] = 0


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["config"].update(n_layers=10**9),
        lambda header: header["config"].update(n_heads=0),
        lambda header: header["config"].update(emb_dim=2**62, n_heads=1),
        lambda header: header["config"].update(context_length=2**62),
        lambda header: header["config"].update(vocab_size=5),
        lambda header: header["config"].update(drop_rate="much"),
        lambda header: header.pop("weights"),
        lambda header: header.update(surprise=1),
        lambda header: header.update(passes=[]),
        lambda header: header.update(written="yesterday"),
        lambda header: header.update(stages=header["stages"][1:]),
        lambda header: header.update(vocabulary={"kind": "table", "table": [1]}),
        lambda header: header.update(vocabulary={"kind": "klingon", "table": []}),
        lambda header: header["passes"][0].update(rows=[[1, 2], [3]]),
        lambda header: header["passes"][0].update(rows=[[10**9, 11, 314, 716]]),
        lambda header: header["passes"][0].update(rows=[[1, 11, 314, 716]]),
        lambda header: header["passes"][0]["kept"].remove("tok_emb"),
        lambda header: header["passes"][0]["kept"].append("trf_blocks.9.norm1"),
        lambda header: header["passes"][0].update(digests=["ids"]),
        lambda header: header["passes"][0].update(ms=["fast"] * 55),
        lambda header: header["parameters"].append("final_norm.nothing"),
        lambda header: header["view"].update(prompts=[]),
        lambda header: header["view"]["model"].update(seed=2**70),
        lambda header: header["view"]["model"]["config"].update(qkv_bias=True),
        lambda header: header["view"].update(request={"path": 1}),
        lambda header: header["view"]["generation"].update(branch=7),
        lambda header: header["view"]["generation"].update(shown=0),
        lambda header: header["view"]["generation"]["branches"][0].update(tip=0),
        lambda header: header["view"]["generation"].update(prompt=[-1]),
        lambda header: header["view"]["options"].update(attention_view="nothing"),
        lambda header: header["view"]["options"].update(top_k=10**9),
        lambda header: header["view"]["decoding"].update(temperature=-1.0),
        lambda header: header["view"]["selection"].update(norm="norm9"),
        lambda header: header["view"]["trail"].update(places=[{"name": "ids", "index": [9, 9], "parameter": False}]),
        lambda header: header["view"].update(heads=2**40),
        lambda header: header["view"].update(surprisal=[[1.0]]),
        lambda header: header["view"].update(probe=[50257] * len(header["view"]["probe"])),
        lambda header: header["view"].update(lens={"row": 0, "stages": [], "difference": 0.0}),
        lambda header: header.update(view=[[[[]]]]),
        lambda header: header.update(parameters=[]),
        lambda header: header["view"]["model"].update(threads=2**40),
        lambda header: header["view"]["model"].update(title="x" * 100_000),
        lambda header: header["view"]["loop"].update(recomputed=2**40),
        lambda header: header["view"]["generation"]["branches"][0].update(name="x" * 100_000),
        lambda header: header["view"]["generation"]["branches"][0].update(origin=0),
        lambda header: header["view"]["generation"]["branches"][0].update(fork=-1),
        lambda header: _with_step(header, parent=0),
        lambda header: _with_step(header, parent=5),
        lambda header: _with_step(header, context_tokens=0),
        lambda header: _with_step(header, computed=10**6),
        lambda header: _with_step(header, ms=-1.0),
        lambda header: _with_step(header, chance=1e308),
        lambda header: _with_step(header, chosen={"id": 1, "logit": 0.0, "probability": 1e308}),
        lambda header: _with_step(header, chosen={"id": 1, "logit": 1e308, "probability": 0.5}),
    ],
)
def test_a_file_that_was_forged_is_refused_with_one_message(
    tmp_path: Path, change: Callable[[Header], object], genuine: bytes
) -> None:
    path = tmp_path / "run.gptviz"
    path.write_bytes(genuine)
    forge(path, lambda _, header: change(header))

    with pytest.raises(RunFileError, match=r"^run\.gptviz is damaged: .*\. Copy it again"):
        run_opening_jobs.open_run(str(path), JobContext(lambda told: None))


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("lens.ids", lambda ids: np.full_like(ids, 50257), "its lens reads tokens that the vocabulary lacks"),
        ("lens.ids", lambda ids: np.full_like(ids, -5), "its lens reads tokens that the vocabulary lacks"),
        ("lens.ids", lambda ids: ids.view(np.float64), "it has no fitting lens.ids"),
        ("lens.logits", lambda logits: logits.reshape(4, 3, 5), "lens.logits has another shape than the run"),
        ("lens.probabilities", lambda shares: shares + np.inf, "its lens has probabilities that are none"),
        ("lens.probabilities", lambda shares: shares + 2, "its lens has probabilities that are none"),
        ("measured.heads.0", lambda scores: scores.reshape(1, 2, 2, 3), "it has no fitting measured.heads.0"),
        ("measured.uniform.0", lambda scores: scores.view(np.float32), "it has no fitting measured.uniform.0"),
        ("probe.scores", lambda scores: scores.view(np.int64), "it has no fitting probe.scores"),
        ("probe.scores", lambda scores: scores.reshape(2, 3, 4), "probe.scores has another shape than the run"),
        ("passes.0.next", lambda ids: ids + 60_000, "pass 1 chooses a token that the vocabulary lacks"),
        ("passes.0.next", lambda ids: ids - 60_000, "pass 1 chooses a token that the vocabulary lacks"),
    ],
)
def test_numbers_that_nothing_has_measured_are_refused(
    tmp_path: Path, genuine: bytes, name: str, change: Callable[[Array], Array], problem: str
) -> None:
    path = tmp_path / "run.gptviz"
    path.write_bytes(genuine)
    forge_tensor(path, name, change)

    with pytest.raises(RunFileError, match=rf"^run\.gptviz is damaged: {problem}\. Copy it again"):
        run_opening_jobs.open_run(str(path), JobContext(lambda told: None))


def test_what_forges_changes_nothing_by_itself(tmp_path: Path, genuine: bytes) -> None:
    """Else the files above would be refused for another reason than the forged header."""
    path = tmp_path / "run.gptviz"
    path.write_bytes(genuine)
    forge(path, lambda outer, header: None)
    forge_tensor(path, "lens.ids", lambda ids: ids)

    assert run_opening_jobs.open_run(str(path), JobContext(lambda told: None)).view.prompts == ("Hello, I am",)


def test_what_a_file_makes_up_does_not_fill_the_message_or_keep_the_window_busy(tmp_path: Path, genuine: bytes) -> None:
    path = tmp_path / "run.gptviz"
    path.write_bytes(genuine)
    forge(path, lambda _, header: header["vocabulary"].update(kind="x" * 100_000))
    with pytest.raises(RunFileError) as caught:
        run_opening_jobs.open_run(str(path), JobContext(lambda told: None))
    assert len(str(caught.value)) < 600

    path.write_bytes(genuine)
    forge(path, lambda _, header: _with_step(header))
    forge(path, lambda _, header: header["view"]["generation"].update(playing=True))
    forge(path, lambda _, header: header["view"]["loop"].update(held=True, lit=2))
    forge(path, lambda _, header: header["view"].update(prompts=["half \ud800 a character"]))
    run = run_opening_jobs.open_run(str(path), JobContext(lambda told: None))
    assert not run.first["generation"].playing
    assert (run.then["loop"].held, run.then["loop"].lit) == (False, None)
    assert run.first["prompts"] == ("half � a character",)
