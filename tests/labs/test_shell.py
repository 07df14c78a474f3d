"""The shell with placeholders: stages that appear, and numbers that change."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from gptviz.capture.stages import catalogue
from gptviz.labs import shell
from gptviz.labs.refusal import RefusedInputError
from gptviz.labs.shell import ShellRun, run
from gptviz.labs.shell_request import CHAPTER_TEXTS, Change, ShellRequest
from gptviz.model import TINY, GPTModel
from gptviz.model.parts import Part


@pytest.fixture(scope="module")
def placeholders() -> ShellRun:
    return run(ShellRequest())


def names(result: ShellRun) -> list[str]:
    return [row.stage.name for row in result.rows]


def with_part(*parts: Part, **what: object) -> ShellRequest:
    return replace(ShellRequest(), real=frozenset(parts), **what)  # type: ignore[arg-type]


def test_the_chapters_two_texts_are_the_batch(placeholders: ShellRun) -> None:
    assert CHAPTER_TEXTS == ("Every effort moves you", "Every day holds a")
    assert placeholders.ids == ((6109, 3626, 6100, 345), (6109, 1110, 6622, 257))
    assert placeholders.logits.shape == (2, 4, 50257)


def test_placeholders_are_stages_that_change_nothing(placeholders: ShellRun) -> None:
    assert names(placeholders) == [
        "ids", "tok_emb", "pos_emb", "embeddings", "drop_emb",
        "trf_blocks.0", "trf_blocks.1", "final_norm", "out_head",
    ]  # fmt: skip
    assert [row.stage.name for row in placeholders.rows if row.placeholder] == names(placeholders)[5:8]
    assert len({(row.mean, row.spread) for row in placeholders.rows[3:8]}) == 1


def test_with_all_parts_the_stages_are_those_of_the_model() -> None:
    result = run(with_part(*Part))

    assert names(result) == [stage.name for stage in catalogue(TINY)][:-2]  # up to the logits
    assert result.parameters == sum(p.numel() for p in GPTModel(TINY).parameters())


def test_a_part_brings_its_stages(placeholders: ShellRun) -> None:
    result = run(with_part(Part.FEED_FORWARD), placeholders)

    new = [row.stage.name for row in result.rows if row.change is Change.NEW]
    assert "trf_blocks.0.ff.layers.1" in new
    assert "trf_blocks.0.att" in new  # the placeholder inside the block
    assert "trf_blocks.0.shortcut1" not in names(result)


def test_the_final_norm_changes_its_own_numbers_and_the_logits(placeholders: ShellRun) -> None:
    result = run(with_part(Part.FINAL_NORM), placeholders)

    changed = [row.stage.name for row in result.rows if row.change is Change.CHANGED]
    assert changed == ["final_norm", "out_head"]
    assert result.first_change is not None
    assert result.first_change.stage.name == "final_norm"
    assert not any(row.other_weights for row in result.rows)  # LayerNorm draws no random numbers
    before, after = placeholders.rows[-2], result.rows[-2]
    assert (after.mean, after.spread) == pytest.approx((0, 1), abs=1e-4)
    assert before.spread != pytest.approx(1, abs=0.1)


def test_a_part_that_draws_weights_moves_those_that_are_drawn_after_it(placeholders: ShellRun) -> None:
    result = run(with_part(Part.ATTENTION), placeholders)

    assert [row.stage.name for row in result.rows if row.other_weights] == ["out_head"]
    assert [name for name, _ in result.drawn] == ["tok_emb", "pos_emb", "trf_blocks", "out_head"]


def test_weights_that_are_kept_apart_do_not_move() -> None:
    before = run(with_part(keep_weights=True))

    result = run(with_part(Part.ATTENTION, keep_weights=True), before)

    assert not any(row.other_weights for row in result.rows)
    assert result.rows[-1].change is Change.CHANGED


def test_weights_that_are_kept_apart_are_those_of_the_model() -> None:
    drawn, kept = run(with_part(*Part)), run(with_part(*Part, keep_weights=True))

    assert (drawn.logits == kept.logits).all()


def test_the_same_request_gives_the_same_numbers(placeholders: ShellRun) -> None:
    again = run(ShellRequest(), placeholders)

    assert {row.change for row in again.rows} == {Change.SAME}
    assert again.first_change is None


def test_dropout_changes_the_numbers_and_not_the_weights(placeholders: ShellRun) -> None:
    result = run(with_part(dropout=True), placeholders)

    assert result.first_change is not None
    assert result.first_change.stage.name == "drop_emb"
    assert not any(row.other_weights for row in result.rows)


def test_other_texts_have_nothing_to_be_compared_with(placeholders: ShellRun) -> None:
    result = run(with_part(texts=("Hello", "World")), placeholders)

    assert result.rows[0].change is Change.OTHER_SHAPE
    assert result.first_change is None


@pytest.mark.parametrize(
    ("texts", "field", "reason"),
    [
        (("", "Hello"), "text 1", "empty"),
        (("Hello", "Hello, I am"), "text 2", "4 tokens, but the first text has 1"),
        (("a " * 100, "a " * 100), "text 1", "at most 64"),
    ],
)
def test_texts_that_make_no_batch_are_refused(texts: tuple[str, str], field: str, reason: str) -> None:
    with pytest.raises(RefusedInputError, match=reason) as refused:
        run(with_part(texts=texts))

    assert refused.value.field == field


def test_weights_beyond_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "available_memory", lambda: 1_000_000)

    with pytest.raises(RefusedInputError, match=r"0\.0 GB are free"):
        run(ShellRequest())


def test_progress_is_told() -> None:
    told: list[str] = []

    run(ShellRequest(), progress=SimpleNamespace(report=lambda text, fraction=None: told.append(text)))

    assert told == ["Drawing the weights", "Running the shell"]
