"""Files that are damaged, of another kind, or made to do harm: each gets one clear message, and nothing is run."""

import json
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, nanogpt, random_model, script
from safetensors.torch import save_file

from gptviz.checkpoints import CheckpointError, load


class Touch:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def refusal(path: Path) -> str:
    with pytest.raises(CheckpointError) as refused:
        load(path)
    said = str(refused.value)
    assert "\n" not in said
    assert len(said) < 500
    return said


@pytest.mark.parametrize("legacy", [False, True])
def test_a_pickled_object_is_refused_by_name_and_never_run(tmp_path: Path, legacy: bool) -> None:
    trap = tmp_path / "trap"
    state = random_model(SMALL).state_dict()
    torch.save({"model": state, "extra": Touch(trap)}, tmp_path / "a.pt", _use_new_zipfile_serialization=not legacy)

    said = refusal(tmp_path / "a.pt")

    assert not trap.exists()
    assert "holds a Python object (" in said
    assert "can run any code, so it is refused" in said


def test_a_pickled_whole_module_is_refused_with_the_way_out(tmp_path: Path) -> None:
    torch.save(random_model(SMALL), tmp_path / "whole.pt")

    said = refusal(tmp_path / "whole.pt")

    assert "gptviz.model.gpt.GPTModel" in said
    assert "torch.save(model.state_dict(), 'model.pth')" in said


def test_a_plain_pickle_is_not_even_begun(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(pickle.dumps(Touch(tmp_path / "trap")))

    assert "is a pickle, but not PyTorch's" in refusal(tmp_path / "model.bin")
    assert not (tmp_path / "trap").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_torchscript_program_is_refused(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.zeros(1, 2)), str(tmp_path / "model.pt"))

    assert "is a TorchScript program" in refusal(tmp_path / "model.pt")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("name", ["model.safetensors", "ckpt.pt", "legacy.bin"])
def test_a_truncated_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    model = random_model(replace(SMALL, tie_weights=True))
    path = tmp_path / name
    if name == "ckpt.pt":
        nanogpt(path, model)
    elif name == "legacy.bin":
        torch.save(script.hugging_face_tensors(model), path, _use_new_zipfile_serialization=False)
    else:
        hugging_face(tmp_path, model)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])

    assert "not complete" in (said := refusal(path)) or "damaged" in said


@pytest.mark.parametrize("claim", [2**20, 2**40, 2**63, 2**64 - 1])
def test_a_header_that_claims_more_than_the_file_holds_is_refused(tmp_path: Path, claim: int) -> None:
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", claim) + b"{" + b" " * 100)

    assert f"announces a header of {claim:,} bytes" in refusal(tmp_path)


def safetensors_of(header: dict[str, Any], data: bytes = b"") -> bytes:
    encoded = json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + data


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"wte.weight": {"dtype": "F32", "shape": [10**9, 10**6], "data_offsets": [0, 4 * 10**15]}}, "promises"),
        ({"wte.weight": {"dtype": "F32", "shape": [10**9, 10**6], "data_offsets": [0, 8]}}, "damaged"),
        ({"wte.weight": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}}, "damaged"),
        ({"wte.weight": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, "damaged"),
        ({"wte.weight": {"dtype": "F32", "shape": [float("nan")], "data_offsets": [0, 8]}}, "damaged"),
        ({"wte.weight": {"dtype": "Q9", "shape": [2], "data_offsets": [0, 8]}}, "damaged"),
        ({"wte.weight": 3}, "damaged"),
        ({}, "has no tensors"),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(tmp_path: Path, header: dict[str, Any], said: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(safetensors_of(header, b"\0" * 8 if header else b""))

    assert said in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"Every effort moves you.\n" * 1000, "is a text file"),
        ("naïve café\n".encode() * 1000, "is a text file"),
        (b"{}", "is a text file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 548\n", "a pointer of Git LFS"),
        (b"<!DOCTYPE html><html>", "is an HTML page"),
        (b"GGUF\x03\0\0\0", "is a GGUF file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"\x1f\x8b\x08\0", "compressed with gzip"),
        (b"\x93NUMPY\x01\0", "a NumPy array"),
        (bytes(range(256)) * 40, "neither a safetensors nor a PyTorch file"),
        (b"\0" * 100, "neither a safetensors nor a PyTorch file"),
        (b"PK\x03\x04" + b"\0" * 100, "end of the archive is missing"),
        (b"\x80\x02}q\x00.", "is a pickle, but not PyTorch's"),
    ],
)
@pytest.mark.parametrize("name", ["model.safetensors", "model.pth"])
def test_a_file_of_another_kind_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)

    assert said in refusal(tmp_path / name)


def zipped(path: Path, members: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_another_zip_is_no_checkpoint(tmp_path: Path) -> None:
    assert "is a zip archive and no checkpoint" in refusal(zipped(tmp_path / "a.pt", {"readme.txt": b"hello"}))


def test_a_zip_bomb_is_not_inflated(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "a.pt", {"a/data.pkl": b"\0" * 50_000_000, "a/version": b"3"}, zipfile.ZIP_DEFLATED)

    assert "data.pkl claims 50,000,000 bytes" in refusal(bomb)


@pytest.mark.parametrize(
    "value", [[1, 2], "text", 3.0, torch.zeros(3), {}, {"a": 1}, {"model": {"a": 1}}, {"weight": "no tensor"}]
)
def test_a_pytorch_file_without_a_state_dict_is_refused(tmp_path: Path, value: object) -> None:
    torch.save(value, tmp_path / "a.pt")

    assert "no state dict" in refusal(tmp_path / "a.pt")


def test_shapes_that_the_file_does_not_hold_are_refused(tmp_path: Path) -> None:
    """A view of one number can claim any shape."""
    state = dict(random_model(SMALL).state_dict())
    state["tok_emb.weight"] = torch.zeros(1).expand(10**9, 12)
    torch.save(state, tmp_path / "a.pt")

    assert "tok_emb.weight claims the shape (1000000000, 12); the file holds fewer" in refusal(tmp_path / "a.pt")


def test_tensors_without_data_are_refused(tmp_path: Path) -> None:
    state = dict(random_model(SMALL).state_dict())
    state["tok_emb.weight"] = torch.zeros(10**9, 10**6, device="meta")
    torch.save(state, tmp_path / "a.pt")

    assert "the file holds fewer numbers" in refusal(tmp_path / "a.pt")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "strange", [torch.zeros(61, 12).to_sparse(), torch.zeros(61, 12, dtype=torch.complex64), "text", 3, None]
)
def test_what_is_no_plain_tensor_is_refused(tmp_path: Path, strange: object) -> None:
    state = OrderedDict(random_model(SMALL).state_dict())
    state["out_head.weight"] = strange  # type: ignore[assignment]
    torch.save(state, tmp_path / "a.pt")

    assert "out_head.weight" in refusal(tmp_path / "a.pt")


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ({"model.embed_tokens.weight": 0, "model.layers.0.self_attn.q_proj.weight": 0}, "no GPT-2 but Llama"),
        ({"gpt_neox.layers.0.attention.dense.weight": 0}, "no GPT-2 but GPT-NeoX"),
        ({"bert.embeddings.word_embeddings.weight": 0}, "no GPT-2 but BERT"),
        ({"conv1.weight": 0, "conv2.weight": 0}, "is no GPT-2: its tensors are conv1.weight, conv2.weight"),
    ],
)
def test_weights_of_another_model_are_named(tmp_path: Path, tensors: dict[str, int], said: str) -> None:
    save_file({name: torch.zeros(2, 2) for name in tensors}, tmp_path / "model.safetensors")

    assert said in refusal(tmp_path)


def test_a_llama_folder_is_refused_by_its_own_name(tmp_path: Path) -> None:
    save_file({"model.embed_tokens.weight": torch.zeros(2, 2)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}')

    assert "is a model of the type 'llama' and no GPT-2" in refusal(tmp_path)


# --- paths -----------------------------------------------------------------------------------------------


def nothing(folder: Path) -> Path:
    return folder


def no_such(folder: Path) -> Path:
    return folder / "absent.pth"


def null_character(folder: Path) -> Path:
    return folder / "a\0b"


def several(folder: Path) -> Path:
    for name in ("a.pth", "b.pth"):
        (folder / name).write_bytes(b"")
    return folder


def adapter(folder: Path) -> Path:
    (folder / "adapter_config.json").write_text("{}")
    return folder


def dangling(folder: Path) -> Path:
    (folder / "model.safetensors").symlink_to(folder / "absent")
    return folder


def loop(folder: Path) -> Path:
    (folder / "model.pth").symlink_to(folder / "model.pth")
    return folder / "model.pth"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "model.pth")
    return folder / "model.pth"


def link_to_a_device(folder: Path) -> Path:
    (folder / "model.safetensors").symlink_to("/dev/zero")
    return folder


def folder_named_like_a_file(folder: Path) -> Path:
    (folder / "model.safetensors").mkdir()
    return folder


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (nothing, "holds no weights: none of model.safetensors, pytorch_model.bin"),
        (no_such, "does not exist"),
        (null_character, "can't be opened"),
        (several, "holds several checkpoints: a.pth, b.pth. Open one of the files"),
        (adapter, "an adapter (LoRA)"),
        (dangling, "is a link to a file that does not exist"),
        (loop, "can't be opened"),
        (pipe, "is no regular file"),
        (link_to_a_device, "is no regular file"),
        (folder_named_like_a_file, "holds no weights"),
    ],
)
def test_a_path_without_a_readable_file_is_refused(tmp_path: Path, make: Callable[[Path], Path], said: str) -> None:
    assert said in refusal(make(tmp_path))


@pytest.mark.parametrize(
    ("weight_map", "said"),
    [
        ({"wte.weight": "model-00009-of-00009.safetensors"}, "1 shard of 1 are missing: model-00009"),
        ({"wte.weight": "../secret.safetensors"}, "is no file of its own folder"),
        ({"wte.weight": "/etc/passwd"}, "is no file of its own folder"),
        ({"wte.weight": "..\\secret.safetensors"}, "is no file of its own folder"),
        ({"wte.weight": "C:secret"}, "is no file of its own folder"),
        ({"wte.weight": ".."}, "is no file of its own folder"),
        ({"wte.weight": 3}, "is no file of its own folder"),
        ({"wte.weight": ""}, "is no file of its own folder"),
        ({}, "has no weight_map"),
        ([], "has no weight_map"),
        ({"absent.weight": "shard.safetensors"}, "promises tensors that its shards don't hold: absent.weight"),
        ({"wte.weight": "config.json"}, "is a text file"),
    ],
)
def test_an_index_leads_to_shards_of_its_own_folder_alone(tmp_path: Path, weight_map: Any, said: str) -> None:
    folder = tmp_path / "model"
    hugging_face(folder, random_model(SMALL))
    (folder / "model.safetensors").rename(folder / "shard.safetensors")
    (tmp_path / "secret.safetensors").write_bytes((folder / "shard.safetensors").read_bytes())
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))

    assert said in refusal(folder)


def test_a_file_that_is_replaced_while_it_is_read_is_not_shown_half(tmp_path: Path) -> None:
    nanogpt(tmp_path / "ckpt.pt", random_model(SMALL, seed=1))

    def replace_it(fraction: float) -> None:
        if fraction > 0.5:
            os.utime(tmp_path / "ckpt.pt", ns=(1, 1))

    with pytest.raises(CheckpointError, match="was changed while it was being read"):
        load(tmp_path, on_progress=replace_it)


def test_loading_can_be_stopped(tmp_path: Path) -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def stop(fraction: float) -> None:
        shares.append(fraction)
        if fraction > 0.5:
            raise Stop

    shares: list[float] = []
    nanogpt(tmp_path / "ckpt.pt", random_model(SMALL))
    with pytest.raises(Stop):
        load(tmp_path, on_progress=stop)

    assert shares == sorted(shares)
    assert 0.5 < shares[-1] < 1


def test_progress_goes_from_nothing_to_all(tmp_path: Path) -> None:
    shares: list[float] = []

    load(nanogpt(tmp_path / "ckpt.pt", random_model(SMALL)), on_progress=shares.append)

    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
