"""Files of tensors and tables: bit for bit, also for blocks that run again and runs without their model."""

import csv
import io
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import torch

from gptviz.analysis.table import Table, table_of, write_csv
from gptviz.analysis.tensor_files import SafetensorsWriter, write_npy
from gptviz.capture import capture
from gptviz.capture.recording import recorded
from gptviz.session.exporting_jobs import SlidesRequest
from gptviz.session.session import Session
from gptviz.session.slides import StageSlide, count_slides, slides_of
from gptviz.whole_file import whole_file


def written(table: Table) -> bytes:
    file = io.BytesIO()
    write_csv(table, file)
    return file.getvalue()


def test_a_table_is_what_rfc_4180_says() -> None:
    cells = ["plain", 'with "quotes"', "a,b", "two\nlines", "=1+1", " Hello", "nul\x00", "🙂", "שלום"]

    data = written(table_of("t", ("n", "token"), enumerate(cells)))

    assert data.startswith(b"n,token\r\n0,plain\r\n")
    assert data.count(b'"with ""quotes"""') == 1
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))
    assert [row[1] for row in rows[1:]] == cells


@pytest.mark.parametrize("value", [0.1, -0.0, 1e-45, 3.4028234663852886e38, float("inf"), -float("inf")])
def test_a_number_is_read_back_as_it_was(value: float) -> None:
    single = np.float32(value)

    text = written(table_of("t", ("x",), [(float(single),)])).decode().split("\r\n")[1]

    assert np.float32(text).tobytes() == single.tobytes()


def test_what_is_missing_is_an_empty_field() -> None:
    assert written(table_of("t", ("a", "b"), [(None, float("nan"))])) == b"a,b\r\n,nan\r\n"


def test_minus_infinity_and_nan_keep_their_bits(tmp_path: Path) -> None:
    odd = np.array([-np.inf, np.inf, np.nan, -0.0, 1e-45], dtype=np.float32)
    odd.view(np.uint32)[2] = 0x7FC01234  # a NaN that carries something

    with (tmp_path / "a.npy").open("wb") as file:
        write_npy(odd, file)
    with (tmp_path / "a.safetensors").open("wb") as file:
        SafetensorsWriter(file, {"odd": ((5,), "float32")}, {"note": "é"}).write("odd", odd)

    assert np.load(tmp_path / "a.npy").tobytes() == odd.tobytes()
    assert safetensors.numpy.load_file(tmp_path / "a.safetensors")["odd"].tobytes() == odd.tobytes()


def test_a_transposed_array_is_written_in_c_order(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T

    with (tmp_path / "a.npy").open("wb") as file:
        write_npy(array, file)

    loaded = np.load(tmp_path / "a.npy")
    assert loaded.flags["C_CONTIGUOUS"]
    assert np.array_equal(loaded, array)


def test_tensors_come_in_the_order_of_the_header() -> None:
    writer = SafetensorsWriter(io.BytesIO(), {"a": ((1,), "float32"), "b": ((1,), "float32")}, {})

    with pytest.raises(ValueError, match="next: a"):
        writer.write("b", np.zeros(1, dtype=np.float32))


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    with pytest.raises(TypeError), whole_file(target) as file:
        file.writelines([b"half", "no bytes"])  # type: ignore[list-item]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]

    with whole_file(target) as file:
        file.write(b"new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "new")]


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="a device or a pipe"), whole_file(tmp_path / "pipe"):
        pytest.fail("it was opened")

    assert (tmp_path / "pipe").is_fifo()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with whole_file(tmp_path / "link") as file:
        file.write(b"new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_blocks_that_were_not_kept_run_again_one_at_a_time(
    ready: Session, tiny_model: Any, wait: Callable[[], None], tmp_path: Path
) -> None:
    assert ready.state.trace is not None
    lean = capture(tiny_model, ready.state.trace.ids, budget=0)
    assert not lean.has_block(0)
    ready.change(trace=lean)

    ready.exporting.tensors("Tensors", tmp_path / "all.safetensors")
    wait()

    assert "2 blocks run again, one at a time" in ready.state.notice
    with safetensors.safe_open(tmp_path / "all.safetensors", "np") as file:
        about = file.metadata()
        for name in lean.names:
            assert file.get_tensor(name).tobytes() == lean[name].numpy().tobytes(), name
    assert about["prompt"] == "Hello, I am"
    assert json.loads(about["ids"]) == [[15496, 11, 314, 716]]
    assert json.loads(about["config"]) == json.loads(json.dumps(asdict(lean.config)))
    assert (about["model"], about["seed"]) == ("tiny", "123")


def test_a_recorded_run_exports_what_it_has_and_says_what_it_has_not(
    ready: Session, tiny_model: Any, wait: Callable[[], None], tmp_path: Path
) -> None:
    assert ready.state.trace is not None
    poor = recorded(capture(tiny_model, ready.state.trace.ids, budget=0))
    ready.change(trace=poor)

    ready.exporting.tensors("Tensors", tmp_path / "all.safetensors")
    wait()
    loaded = safetensors.numpy.load_file(tmp_path / "all.safetensors")
    assert set(loaded) == {name for name in poor.names if poor.has(name)}
    assert f"{len(poor) - len(loaded)} others are not at hand" in ready.state.notice

    ready.exporting.tensor("Weights", tmp_path / "weights.npy", "trf_blocks.0.att.weights")
    wait()
    assert "is not at hand, and the model that computed it is not loaded" in str(ready.state.message)
    assert not (tmp_path / "weights.npy").exists()

    request = SlidesRequest(poor, ready.state, "Hello, I am", ready.token_text)
    slides = list(slides_of(request, count_slides(request), lambda _: poor))
    assert len(slides) == 1 + len(poor) + 1
    said = [s.content.output.missing for s in slides if isinstance(s.content, StageSlide) and s.content.output]
    assert sum("model is not loaded" in text for text in said) == len(poor) - len(loaded)


def test_a_batch_is_written_whole(ready: Session, wait: Callable[[], None], tmp_path: Path) -> None:
    ready.set_prompts(("Hello, I am", "Hello, I was"))
    ready.run()
    wait()

    ready.exporting.tensor("Weights", tmp_path / "weights.npy", "trf_blocks.0.att.weights")
    wait()

    assert ready.state.trace is not None
    whole = ready.state.trace["trf_blocks.0.att.weights"]
    assert torch.equal(torch.from_numpy(np.load(tmp_path / "weights.npy")), whole)
    assert whole.shape == (2, 2, 4, 4)


def test_nothing_is_written_while_the_model_computes(ready: Session, tmp_path: Path) -> None:
    ready.run()

    ready.exporting.tensor("Weights", tmp_path / "weights.npy", "trf_blocks.0.att.weights")

    assert "the model is computing" in str(ready.state.message)
    assert not (tmp_path / "weights.npy").exists()


def test_a_disk_without_room_is_told_before_anything_is_written(
    ready: Session, wait: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_500_000))

    ready.exporting.tensors("Tensors", tmp_path / "all.safetensors")
    wait()

    assert str(ready.state.message) == (
        f"Tensors were not written: it needs 2.1 MB and the disk of {tmp_path} has 1.5 MB left. "
        "Make room there, or choose another disk"
    )
    assert list(tmp_path.iterdir()) == []
