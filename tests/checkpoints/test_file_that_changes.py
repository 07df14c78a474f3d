"""A file that another program writes to while it is read: an error, and not the end of the program."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, nanogpt, random_model

from gptviz.checkpoints import CheckpointError, load
from gptviz.checkpoints.steady import copied

# so large that it is read in several parts
LARGE = replace(SMALL, vocab_size=20_000, emb_dim=300, tie_weights=True)
IN_ITS_OWN_PROCESS = """
import os, sys
from gptviz.checkpoints import CheckpointError, load

path, file = sys.argv[1:]
calls = []

def shorten(share):
    calls.append(share)
    if len(calls) == 2:  # the first part was read
        os.truncate(file, 1000)

try:
    load(path, on_progress=shorten)
except CheckpointError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system's copy is Linux's")
@pytest.mark.parametrize("kind", ["safetensors", "torch"])
def test_a_file_that_is_cut_short_in_the_middle_is_told(tmp_path: Path, kind: str) -> None:
    """torch.save does that to a checkpoint that it writes again; reading a map of it ends a program by SIGBUS."""
    model = random_model(LARGE)
    path = hugging_face(tmp_path / "hf", model) if kind == "safetensors" else nanogpt(tmp_path / "ckpt.pt", model)
    file = path / "model.safetensors" if path.is_dir() else path

    command = [sys.executable, "-c", IN_ITS_OWN_PROCESS, str(path), str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode == 0, ended.stderr
    assert f"{file.name} was changed while it was being read" in ended.stdout


@pytest.mark.parametrize("kind", ["safetensors", "torch"])
def test_a_file_that_vanishes_is_told(tmp_path: Path, kind: str) -> None:
    model = random_model(LARGE)
    path = hugging_face(tmp_path / "hf", model) if kind == "safetensors" else nanogpt(tmp_path / "ckpt.pt", model)
    file = path / "model.safetensors" if path.is_dir() else path

    def remove(share: float) -> None:
        if file.exists():
            file.unlink()

    with pytest.raises(CheckpointError, match=f"{file.name} vanished while it was being read"):
        load(path, on_progress=remove)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_a_copy_has_the_numbers_and_the_shape(dtype: torch.dtype) -> None:
    numbers = torch.arange(60).to(dtype).view(3, 4, 5)

    for tensor in (numbers, numbers[1:, ::2], numbers.transpose(0, 2), numbers[0, 0, 0], numbers[:0]):
        copy = copied(tensor, "a file")
        assert torch.equal(copy, tensor)
        assert copy.data_ptr() != tensor.data_ptr() or not tensor.numel()
