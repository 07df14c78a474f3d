"""How much memory loading takes: it must not hold the weights twice."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from checkpoint_writers import nanogpt, script

from gptviz.model import GPT2_SMALL, GPTModel, initialise

PEAK = """
import sys
from gptviz.checkpoints import load

def figure(name):
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith(name))) * 1024

load(sys.argv[2])  # whatever is imported on the way
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # forget the peak so far
before = figure("VmRSS")
checkpoint = load(sys.argv[1])
size = sum(parameter.nbytes for parameter in checkpoint.model.parameters())
print((figure("VmHWM") - before) / size)
"""


def as_safetensors(model: GPTModel, folder: Path) -> Path:
    script.save_for_hugging_face(model, folder)
    return folder


def as_a_pickle_in_a_zip(model: GPTModel, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return nanogpt(folder / "ckpt.pt", model)


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("save", [as_safetensors, as_a_pickle_in_a_zip])
def test_loading_gpt2_small_peaks_below_one_and_a_third_of_its_size(
    tmp_path: Path, save: Callable[[GPTModel, Path], Path]
) -> None:
    tied = replace(GPT2_SMALL, tie_weights=True, qkv_bias=True)
    path = save(initialise(tied, seed=1), tmp_path / "large")
    small = save(initialise(replace(tied, n_layers=1, emb_dim=12, vocab_size=61), seed=1), tmp_path / "small")

    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), str(small)], capture_output=True, text=True, check=True
    )

    assert 0.9 < float(done.stdout) < 1.3
