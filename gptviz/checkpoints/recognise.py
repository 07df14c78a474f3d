"""Which kind of file it is, by its first bytes; its name says nothing."""

from pathlib import Path

from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.safetensors_file import SafetensorsFile
from gptviz.checkpoints.tensor_file import TensorFile
from gptviz.checkpoints.torch_file import TorchFile


def open_tensors(path: Path) -> TensorFile:
    """Open a file of weights, of whatever kind it turns out to be by its first bytes.

    Raises
    ------
    CheckpointError
        If it is of no kind that is opened, damaged, or not complete.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise CheckpointError(f"{path.name} can't be read: {error.strerror}", "Check its permissions") from error
    if not size:
        raise CheckpointError(f"{path.name} is empty", "Download or save it again")
    if start[8:9] == b"{":
        return SafetensorsFile(path)
    if start.startswith((b"PK\x03\x04", b"\x80")):
        return TorchFile(path)
    raise CheckpointError(*_what_else(path.name, start))


def _what_else(name: str, start: bytes) -> tuple[str, str]:
    for magic, what, remedy in (
        (b"version https://git-lfs", "a pointer of Git LFS: the weights themselves are missing", "Run git lfs pull"),
        (b"GGUF", "a GGUF file, whose weights are quantised", "Take the original model, as safetensors"),
        (b"\x89HDF", "an HDF5 file of TensorFlow", "Save the model with transformers as safetensors"),
        (b"\x93NUMPY", "a NumPy array and no checkpoint", "Save the model's state dict"),
        (b"\x1f\x8b", "compressed with gzip", "Unpack it first"),
    ):
        if start.startswith(magic):
            return f"{name} is {what}", remedy
    if start.lstrip()[:1] == b"<":
        return f"{name} is an HTML page and no checkpoint", "Download the file itself, not the page about it"
    if b"\0" not in start:
        try:
            start[: start.rfind(b"\n") + 1 or len(start)].decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            return f"{name} is a text file and no checkpoint", "Choose a safetensors, .pth, .pt or .bin file"
    return (
        f"{name} is neither a safetensors nor a PyTorch file, or its beginning is damaged",
        "Download or save it again",
    )
