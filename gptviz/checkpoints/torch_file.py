"""PyTorch's own files: a pickle in a zip or, from before 2020, a pickle alone. Plain weights are all that is read."""

import pickle
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.settings import plain_settings
from gptviz.checkpoints.steady import check_size, copied
from gptviz.checkpoints.tensor_file import Entry, torch_dtype_name

_AGAIN = "Download or save it again"
_SAVE = "Save the weights alone: torch.save(model.state_dict(), 'model.pth')"
_LARGEST_PICKLE = 256 * 2**20  # bytes; of the structure, without the numbers
_INSIDE = ("model_state_dict", "state_dict", "model", "module")  # where training scripts keep the state dict
_MARKS = ("tok_emb.weight", "wpe.weight")  # names that tell a state dict at another place
_LEGACY = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19"  # PyTorch's number, after two bytes of the pickle protocol


class TorchFile:
    """One file; see ``TensorFile``. A zip is memory-mapped; the older kind has to be read as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = path.stat().st_size
        self._mapped = zipfile.is_zipfile(path)
        if self._mapped:
            self._check_zip()
        else:
            self._check_start()
        whole = self._load()
        self._inside = _place_of_state_dict(whole, path.name)
        self._tensors: dict[str, Tensor] | None = self._pick(whole)
        beside = {key: value for key, value in whole.items() if key != self._inside} if self._inside else {}
        self.rest = plain_settings(beside)
        self.entries = {name: self._entry(name, tensor) for name, tensor in self._tensors.items()}
        strange = {name: value for name, value in self._state(whole).items() if name not in self.entries}
        self.entries |= {_written(name): Entry((), f"a {type(value).__name__}") for name, value in strange.items()}

    def tensor(self, name: str) -> Tensor:
        if self._tensors is None:
            check_size(self._path, self._size)
            self._tensors = self._pick(self._load())
        if name not in self._tensors:
            raise CheckpointError(f"{self._path.name} was changed while it was being read", "Open it again")
        return self._tensors[name]

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        rows = self.tensor(name)[start:stop]
        return copied(rows, self._path.name) if self._mapped else rows

    def forget(self) -> None:
        if self._mapped:
            self._tensors = None

    def owned(self, name: str) -> bool:
        if self._mapped:
            return False
        tensor = self.tensor(name)
        return tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.nbytes

    def done_with(self, name: str) -> None:
        if not self._mapped and self._tensors is not None:
            self._tensors.pop(name, None)

    def same(self, one: str, other: str) -> bool:
        first, second = self.tensor(one), self.tensor(other)
        return (
            first.data_ptr() == second.data_ptr() and first.shape == second.shape and first.stride() == second.stride()
        )

    # --- reading -----------------------------------------------------------------------------------------

    def _load(self) -> dict[Any, Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = torch.load(str(self._path), map_location="cpu", weights_only=True, mmap=self._mapped or None)
        except Exception as error:  # a hostile pickle can end in any of them
            raise self._explained(error) from error
        if not isinstance(whole, dict):
            raise CheckpointError(f"{self._path.name} holds a {type(whole).__name__} and no state dict", _SAVE)
        return whole

    def _explained(self, error: Exception) -> CheckpointError:
        """Say what torch found, without its advice to load the file in the way that runs code."""
        text, name = str(error), self._path.name
        strange = re.search(r"GLOBAL ([\w.]+)|call ([\w.]+) with|<class '([\w.]+)'>", text)
        if isinstance(error, pickle.UnpicklingError) and (strange is not None or "add_safe_globals" in text):
            found = next((group for group in strange.groups() if group), "") if strange else ""
            return CheckpointError(
                f"{name} holds a Python object{f' ({found[:100]})' if found else ''} besides plain weights, and "
                "rebuilding objects from a file can run any code, so it is refused",
                _SAVE,
            )
        return CheckpointError(f"{name} is damaged, or no file of weights: {_reason(error)}", _AGAIN)

    def _state(self, whole: dict[Any, Any]) -> dict[Any, Any]:
        state = whole if self._inside is None else whole.get(self._inside)
        return state if isinstance(state, dict) else {}

    def _pick(self, whole: dict[Any, Any]) -> dict[str, Tensor]:
        state = self._state(whole)
        return {name: value.detach() for name, value in state.items() if _is_plain(name, value)}

    def _entry(self, name: str, tensor: Tensor) -> Entry:
        if tensor.is_meta or tensor.nbytes > tensor.untyped_storage().nbytes():
            raise CheckpointError(
                f"in {self._path.name}, {name} claims the shape {tuple(tensor.shape)}; the file holds fewer numbers",
                _AGAIN,
            )
        return Entry(tuple(tensor.shape), torch_dtype_name(tensor.dtype))

    # --- before it is read -------------------------------------------------------------------------------

    def _check_zip(self) -> None:
        """Look at the zip's list of contents: torch would inflate whatever it is told to."""
        name, size = self._path.name, self._size
        try:
            with zipfile.ZipFile(self._path) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise CheckpointError(f"{name} is damaged: {error}", _AGAIN) from error
        names = [member.filename for member in members]
        if any(member.endswith("constants.pkl") for member in names):
            raise CheckpointError(f"{name} is a TorchScript program, which would be run and not read", _SAVE)
        if not any(member.endswith("data.pkl") for member in names):
            raise CheckpointError(f"{name} is a zip archive and no checkpoint", "Unpack it, or choose another file")
        for member in members:
            too_large = member.file_size > (_LARGEST_PICKLE if member.filename.endswith(".pkl") else size)
            if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size or too_large:
                raise CheckpointError(
                    f"in {name}, {member.filename} claims {member.file_size:,} bytes, which PyTorch never writes so",
                    _AGAIN,
                )

    def _check_start(self) -> None:
        with self._path.open("rb") as file:
            start = file.read(64)
        if start.startswith(b"PK"):
            raise CheckpointError(f"{self._path.name} is not complete: the end of the archive is missing", _AGAIN)
        if start[2 : 2 + len(_LEGACY)] != _LEGACY:
            raise CheckpointError(
                f"{self._path.name} is a pickle, but not PyTorch's; unpickling could run any code, so it is refused",
                _SAVE,
            )


def _reason(error: Exception) -> str:
    text = str(error)
    claim = re.search(r"tried to allocate (\d+) bytes", text)
    if claim is not None:
        return f"it claims a tensor of {int(claim[1]):,} bytes"
    if isinstance(error, MemoryError):
        return "it claims more memory than there is"
    if isinstance(error, EOFError):
        return "it ends too early"
    if "weights_only" in text:
        found = re.search(r"WeightsUnpickler error: *([^\n]*)", text)
        return found[1].strip()[:200].rstrip(".") if found and found[1].strip() else "its structure is broken"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:200].rstrip(".") if lines else type(error).__name__


def _written(key: object) -> str:
    """Return a key as text; only the kind of one that is no text, as writing it could take forever."""
    return key if isinstance(key, str) else f"‹{type(key).__name__}›"


def _is_plain(name: object, value: object) -> bool:
    return (
        isinstance(name, str)
        and isinstance(value, Tensor)
        and value.layout == torch.strided
        and not value.is_quantized
        and not value.is_complex()
    )


def _place_of_state_dict(whole: dict[Any, Any], file: str) -> str | None:
    """Return the key that holds the state dict; None if ``whole`` is one itself."""
    if any(isinstance(value, Tensor) and _written(key).endswith("weight") for key, value in whole.items()):
        return None
    for key in _INSIDE:
        inside = whole.get(key)
        if isinstance(inside, dict) and any(isinstance(value, Tensor) for value in inside.values()):
            return key
    for key, inside in whole.items():
        names = map(_written, inside) if isinstance(key, str) and isinstance(inside, dict) else ()
        if any(name.endswith(_MARKS) for name in names):
            return str(key)
    keys = ", ".join(_written(key)[:40] for key in list(whole)[:5]) or "nothing at all"
    raise CheckpointError(f"{file} holds no state dict: at its top there is {keys}", _SAVE)
