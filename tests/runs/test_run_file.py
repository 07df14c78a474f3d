"""The file: a plain safetensors file, there whole or not at all, and refused if a single bit is another one."""

import errno
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from forged import Header, forge
from safetensors import safe_open
from torch import Tensor

from gptviz.runs.errors import RunFileError
from gptviz.runs.reading import read
from gptviz.runs.writing import RunWriter

NUMBERS = torch.arange(24, dtype=torch.float32).view(2, 3, 4) / 7


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path, tensors: dict[str, Tensor], **header: Any) -> int:
    with RunWriter(path, (len(tensors), len(json.dumps(header)))) as writer:
        writer.add(tensors)
        return writer.finish(header)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.gptviz"
    write(path, {"numbers": NUMBERS, "view": NUMBERS.transpose(0, 1)[1:], "ids": torch.tensor([[1, 2]])}, prompt="Ö")
    return path


def test_what_was_written_is_read(file: Path) -> None:
    header, tensors = read(file)

    assert header == {"prompt": "Ö"}
    assert {name: tensor.dtype for name, tensor in tensors.items()} == {
        "numbers": torch.float32,
        "ids": torch.int64,
        "view": torch.float32,
    }
    assert torch.equal(tensors["numbers"], NUMBERS)
    assert torch.equal(tensors["view"], NUMBERS.transpose(0, 1)[1:])
    assert torch.equal(tensors["ids"], torch.tensor([[1, 2]]))


def test_infinity_nan_and_minus_zero_keep_their_bits(tmp_path: Path) -> None:
    odd = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0, 1e-45])

    write(tmp_path / "a.gptviz", {"odd": odd})

    assert torch.equal(read(tmp_path / "a.gptviz")[1]["odd"].view(torch.int32), odd.view(torch.int32))


def test_any_program_that_reads_safetensors_reads_the_tensors(file: Path) -> None:
    with safe_open(str(file), framework="pt") as opened:
        assert sorted(opened.keys()) == ["ids", "numbers"]
        assert torch.equal(opened.get_tensor("numbers"), NUMBERS)
        assert opened.metadata()["gptviz.run"] == "1"


def test_a_file_that_another_program_wrote_anew_is_read(tmp_path: Path, file: Path) -> None:
    """The safetensors library puts tensors in an order of its own and rounds the header up to eight bytes."""
    from safetensors.torch import load_file, save_file

    with safe_open(file, "pt") as before:
        metadata = before.metadata()
    tensors = load_file(file)
    save_file(tensors, tmp_path / "anew.gptviz", metadata=metadata)
    assert (tmp_path / "anew.gptviz").read_bytes() != file.read_bytes()

    header, found = read(tmp_path / "anew.gptviz")

    assert header == read(file)[0]
    assert {name: tensor.tolist() for name, tensor in found.items()} == {
        name: tensor.tolist() for name, tensor in read(file)[1].items()
    }
    tensors["numbers"][0, 0, 0] += 1
    save_file(tensors, tmp_path / "anew.gptviz", metadata=metadata)
    with pytest.raises(RunFileError, match="the numbers of numbers are not those that were written"):
        read(tmp_path / "anew.gptviz")
    del tensors["numbers"]
    save_file(tensors, tmp_path / "anew.gptviz", metadata=metadata)
    with pytest.raises(RunFileError, match="its tensors are not those that were written"):
        read(tmp_path / "anew.gptviz")


def test_tensors_that_share_memory_are_written_once(tmp_path: Path) -> None:
    large = torch.rand(4, 1000)

    size = write(tmp_path / "one", {"a": large})
    with_views = write(tmp_path / "two", {"a": large, "b": large, "c": large[2:], "d": large.view(4, 10, 100).mT})

    assert with_views - size < 8192
    _, tensors = read(tmp_path / "two")
    assert torch.equal(tensors["d"], large.view(4, 10, 100).mT)
    assert torch.equal(tensors["c"], large[2:])


# --- damaged ---------------------------------------------------------------------------------------------


def test_every_flipped_bit_is_noticed(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    header = whole[: whole.index(b"}   ") + 2]
    places = [*range(0, len(header), 7), len(header) + 5, *range(len(whole) - 112, len(whole), 3)]
    for place in places:
        for bit in (0, 5):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            (tmp_path / "b.gptviz").write_bytes(flipped)
            with pytest.raises(RunFileError) as caught:
                read(tmp_path / "b.gptviz")
            assert "b.gptviz" in str(caught.value)
            assert caught.value.remedy


@pytest.mark.parametrize("keep", [True, False])
def test_a_file_that_was_cut_short_is_refused(file: Path, tmp_path: Path, keep: bool) -> None:
    whole = file.read_bytes()
    for length in (0, 1, 7, 8, 9, 100, 1000, len(whole) // 2, len(whole) - 100, len(whole) - 1):
        (tmp_path / "b.gptviz").write_bytes(whole[:length])
        with pytest.raises(RunFileError, match=r"b\.gptviz is (empty|damaged|no recorded run)"):
            read(tmp_path / "b.gptviz", keep)


def test_a_file_that_grew_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")

    with pytest.raises(RunFileError, match="longer than it was written"):
        read(file)


@pytest.mark.parametrize("version", ["2", "10", "999999999"])
def test_a_newer_format_is_refused(file: Path, version: str) -> None:
    forge(file, lambda outer, _: outer["__metadata__"].update({"gptviz.run": version}))

    with pytest.raises(RunFileError, match=f"written by a newer gptviz: format {version}, this one reads 1"):
        read(file)


@pytest.mark.parametrize("version", ["0", "-1", "1.5", "x", "9" * 5000])
def test_a_format_that_makes_no_sense_is_damage(file: Path, version: str) -> None:
    forge(file, lambda outer, _: outer["__metadata__"].update({"gptviz.run": version}))

    with pytest.raises(RunFileError, match="damaged"):
        read(file)


def huge(outer: Header, inner: Header) -> None:
    inner["tensors"]["numbers"][1] = outer["numbers"]["shape"] = [2**40, 2**40]
    outer["numbers"]["data_offsets"] = [0, 2**62]


def out_of_bounds(outer: Header, inner: Header) -> None:
    inner["views"]["view"][3] = 100


@pytest.mark.parametrize(
    "change",
    [
        huge,
        out_of_bounds,
        lambda outer, inner: inner["views"]["view"].__setitem__(0, "nothing"),
        lambda outer, inner: inner["views"]["view"].__setitem__(2, [-1, 1, 1]),
        lambda outer, inner: inner["views"].update(view=None),
        lambda outer, inner: inner.update(tensors=[1]),
        lambda outer, inner: inner.update(views="all"),
        lambda outer, inner: inner["tensors"].pop("ids"),
        lambda outer, inner: inner["tensors"].update(ids=["U8", [16], "0"]),
        lambda outer, inner: inner["tensors"]["numbers"].__setitem__(1, ["2", 3, 4]),
        lambda outer, inner: outer["numbers"].update(data_offsets=[8, 104]),
        lambda outer, inner: outer["numbers"].update(shape=True),
    ],
)
def test_a_header_that_lies_is_refused_without_taking_memory(file: Path, change: Any) -> None:
    forge(file, lambda outer, inner: None)
    read(file)  # a header that was written anew is none that lies
    forge(file, change)

    with pytest.raises(RunFileError, match=r"makes no sense|no list of tensors|tensors are not those"):
        read(file)


def test_a_run_that_is_larger_than_the_memory_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any, **__: Any) -> Tensor:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(torch, "empty", refuses)

    with pytest.raises(RunFileError, match=r"needs more memory than there is\. Record it with a smaller budget"):
        read(file)


def test_a_header_of_nothing_but_brackets_is_refused(tmp_path: Path) -> None:
    text = b"[" * 100_000
    (tmp_path / "a.gptviz").write_bytes(struct.pack("<Q", len(text)) + text)

    with pytest.raises(RunFileError, match="no recorded run, or its beginning is damaged"):
        read(tmp_path / "a.gptviz")


# --- other files -----------------------------------------------------------------------------------------


def test_other_kinds_of_files_say_what_they_are(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"wte.weight": NUMBERS}, tmp_path / "model.safetensors")
    torch.save({"a": NUMBERS}, tmp_path / "model.pth")
    (tmp_path / "text.gptviz").write_text("just a text that is long enough")

    for name in ("model.safetensors", "model.pth"):
        with pytest.raises(RunFileError, match=r"of weights and no recorded run\. Open it with File → Open checkpoint"):
            read(tmp_path / name)
    for path, said in (
        (tmp_path / "text.gptviz", "text.gptviz is no recorded run"),
        (tmp_path, "is a folder"),
        (tmp_path / "nothing", "there is no file"),
        (Path("/dev/null"), "is a device"),
        (tmp_path / ("a" * 300), "can't be read: File name too long"),
    ):
        with pytest.raises(RunFileError, match=said):
            read(path)


@pytest.mark.parametrize("first", [b"\x80", b"PK\x03\x04"], ids=["pickle", "zip"])
def test_a_header_as_long_as_another_format_begins_changes_nothing(tmp_path: Path, file: Path, first: bytes) -> None:
    """Any tool may write safetensors anew and pad the header to 128 bytes, say, or to 67 million."""
    from safetensors.torch import save_file

    save_file({"wte.weight": NUMBERS}, tmp_path / "model.safetensors")
    for path in (file, tmp_path / "model.safetensors"):
        data = path.read_bytes()
        end = 8 + int.from_bytes(data[:8], "little")
        wanted = int.from_bytes(first, "little")
        wanted += -(-max(0, end - 8 - wanted) // 256) * 256
        path.write_bytes(wanted.to_bytes(8, "little") + data[8:end].ljust(wanted) + data[end:])
        assert path.read_bytes().startswith(first)

    assert torch.equal(read(file)[1]["numbers"], NUMBERS)
    with pytest.raises(RunFileError, match="is a safetensors file of weights"):
        read(tmp_path / "model.safetensors")
    assert list(safe_open(tmp_path / "model.safetensors", "pt").keys()) == ["wte.weight"]


# --- writing ---------------------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFileError, match=r"a\.gptviz can't be written: the disk is full\. Make room"):
        write(file, {"numbers": NUMBERS})

    assert file.read_bytes() == before
    assert names(file.parent) == ["a.gptviz"]


def test_a_disk_that_fills_up_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    class FullAfterAWhile:
        def __call__(self, size: int) -> None:
            if size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with (
        pytest.raises(RunFileError, match="the disk is full"),
        RunWriter(tmp_path / "a.gptviz", (2, 0), FullAfterAWhile()) as writer,
    ):
        writer.add({"one": NUMBERS, "two": NUMBERS.clone()})

    assert names(tmp_path) == []


def test_giving_up_on_the_way_leaves_nothing(file: Path) -> None:
    before = file.read_bytes()

    def give_up(size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), RunWriter(file, (1, 0), give_up) as writer:
        writer.add({"numbers": NUMBERS})

    assert file.read_bytes() == before
    assert names(file.parent) == ["a.gptviz"]


def test_places_that_cannot_be_written_to_say_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()
    for path, said in (
        (tmp_path / "file" / "a.gptviz", "a part of its path is a file and no folder"),
        (tmp_path / "nothing" / "a.gptviz", "there is no such folder"),
        (tmp_path / "folder", "folder is a folder"),
        (Path("/dev/full"), "full is a device and no file"),
        (Path("/proc/a.gptviz"), "can't be written"),
        (tmp_path / ("a" * 300), "the name is too long"),
    ):
        with pytest.raises(RunFileError, match=said):
            write(path, {"numbers": NUMBERS})
    assert names(tmp_path) == ["file", "folder"]


def test_a_link_is_followed_and_permissions_stay(file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    (tmp_path / "link").symlink_to(file)

    write(tmp_path / "link", {"other": NUMBERS})

    assert (tmp_path / "link").is_symlink()
    assert list(read(file)[1]) == ["other"]
    assert file.stat().st_mode & 0o777 == 0o640
