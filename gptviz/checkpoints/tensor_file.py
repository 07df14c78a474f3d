"""Tensors in files: what is there, and rows of it, read through a memory map that is given up again and again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

FLOATS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}


@dataclass(frozen=True)
class Entry:
    """A tensor in a file: its shape, and what its numbers are stored as, such as float16."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def stored_as(self) -> str:
        """The short name of the type, such as fp16."""
        return FLOATS.get(self.dtype, self.dtype)


class TensorFile(Protocol):
    """Tensors by name, on disk. ``rest`` is what else a PyTorch file holds besides its state dict."""

    @property
    def entries(self) -> Mapping[str, Entry]: ...

    @property
    def rest(self) -> Mapping[str, object]: ...

    def tensor(self, name: str) -> Tensor:
        """Return the tensor; where a memory map is used, nothing is read before its numbers are."""

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        """Return rows of the tensor that are in memory, and stay there whatever happens to the file."""

    def forget(self) -> None:
        """Give up what was mapped, and with it the memory of the pages that were read."""

    def owned(self, name: str) -> bool:
        """Tell whether the tensor is in memory already, so that the model can take it as it is."""

    def done_with(self, name: str) -> None:
        """Let go of a tensor that is in memory."""

    def same(self, one: str, other: str) -> bool:
        """Tell whether the file says that two tensors are one and the same."""


def torch_dtype_name(dtype: torch.dtype) -> str:
    """Return "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")
