"""From a path to the files of a checkpoint: which of them hold weights, and whether a config.json is with them."""

import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gptviz.checkpoints.errors import CheckpointError, counted, first_few, printable

CONFIG = "config.json"
INDEX = ".index.json"
WHOLE = ("model.safetensors", "pytorch_model.bin")  # in the order in which they are looked for
_SUFFIXES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt")
_SHARD = re.compile(r"(.+)-\d{5}-of-\d{5}(\.safetensors|\.bin)$")
_ANY_INDEX = re.compile(r"\.(safetensors|bin)\.index(\.[\w\-]+)?\.json$")  # the middle is a variant, such as fp16
_LARGEST_JSON = 16 * 2**20  # bytes
_GENERIC = ("model", "pytorch_model", "ckpt", "model_and_optimizer", "checkpoint", "weights", "state_dict")
# what else is found in folders of models: file, what it is, what to do
_OTHER_KINDS = (
    ("adapter_config.json", "an adapter (LoRA), which is no model on its own", "Merge it into its model and save that"),
    ("tf_model.h5", "TensorFlow weights", "Save them with transformers as safetensors"),
    ("flax_model.msgpack", "Flax weights", "Save them with transformers as safetensors"),
    ("model.ckpt.index", "a TensorFlow checkpoint", "Take the same model from the Hugging Face Hub"),
    ("*.gguf", "GGUF weights, which are quantised", "Take the original model, as safetensors"),
    ("*.onnx", "an ONNX graph", "Take the original model, as safetensors"),
)


@dataclass(frozen=True)
class Found:
    """A checkpoint's files. ``places`` tells of a sharded one which tensor is in which file."""

    name: str
    weights: tuple[Path, ...]
    config: Path | None = None
    places: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def stamp(self) -> tuple[tuple[int, ...], ...]:
        """Tells whether a file was replaced or written to in the meantime."""
        return tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in (path.stat() for path in self.weights))


def find(path: Path) -> Found:
    """Find the files of the checkpoint at ``path``: a file of weights, a folder, an index, or a config.json.

    Raises
    ------
    CheckpointError
        If there are none, or what is there is of another kind.
    """
    path = expanded(path)
    try:
        os.fspath(path).encode("utf-8")
    except UnicodeEncodeError:
        raise CheckpointError(
            f"the path {path} is no valid UTF-8, and the libraries that read weights take no other",
            "Rename the file or folder",
        ) from None
    if _kind(path) == "folder":
        return _in_folder(path)
    if path.name == CONFIG:
        return _in_folder(path.parent)
    if _ANY_INDEX.search(path.name):
        return _indexed(path, name_of(path))
    index = next((index for index in _indexes_of(path) if index.exists()), None)
    if index is not None:
        return _indexed(index, name_of(path.parent))
    return Found(name_of(path), (path,), _config_beside(path))


def read_json(path: Path, largest: int = _LARGEST_JSON) -> dict[str, Any]:
    """Read a JSON object of moderate size.

    Raises
    ------
    CheckpointError
        If it is none.
    """
    _kind(path)
    if path.stat().st_size > largest:
        raise CheckpointError(f"{path.name} is too large for a configuration: {path.stat().st_size:,} bytes")
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise CheckpointError(f"{path.name} can't be read: {error.strerror}", "Check its permissions") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path.name} is no JSON: {_brief(error)}", "Download or save it again") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path.name} holds no JSON object, but a {type(value).__name__}", "Save it again")
    return value


def name_of(path: Path) -> str:
    """Return what to call the checkpoint at ``path``: its name on the Hub, or the file's or folder's."""
    path = expanded(path).absolute()
    for folder in (path, *path.parents):
        if folder.name.startswith("models--"):
            return printable(folder.name.removeprefix("models--").replace("--", "/"))
    if path.stem.split("-0")[0].split(".")[0] in _GENERIC and path.parent.name:
        return printable(f"{path.parent.name}/{path.name}")
    return printable(path.name or str(path))


def expanded(path: Path) -> Path:
    """Replace ~ by the home directory; leave a name that only looks like it, such as ~draft, as it is."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _kind(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            raise CheckpointError(f"{path.name} is a link to a file that does not exist", "Mend the link") from None
        raise CheckpointError(f"{path} does not exist", "Check the path") from None
    except (OSError, ValueError) as error:  # loops of links, no permission, a null character
        raise CheckpointError(f"{path} can't be opened: {_brief(error)}", "Check the path") from error
    if stat.S_ISDIR(mode):
        return "folder"
    if not stat.S_ISREG(mode):
        raise CheckpointError(f"{path.name} is no regular file", "Choose a file of weights or a folder with one")
    return "file"


def _brief(error: BaseException) -> str:
    text = str(getattr(error, "strerror", None) or error).splitlines()
    return (text[0] if text else type(error).__name__)[:200].rstrip(".")


def _config_beside(path: Path) -> Path | None:
    config = path.with_name(CONFIG)
    return config if config.exists() or config.is_symlink() else None


def _indexes_of(path: Path) -> list[Path]:
    """Return where the index of a shard can be: of model.fp16-00001-of-00002.safetensors, its variant at the end."""
    shard = _SHARD.match(path.name)
    if shard is None:
        return []
    name, _, variant = shard[1].rpartition(".")
    usual = path.with_name(f"{shard[1]}{shard[2]}{INDEX}")
    return [usual, path.with_name(f"{name}{shard[2]}.index.{variant}.json")] if name else [usual]


def _in_folder(folder: Path) -> Found:
    snapshot = _snapshot(folder)
    if snapshot is not None:
        return _in_folder(snapshot)
    for name in WHOLE:
        whole, index = folder / name, folder / f"{name}{INDEX}"
        if (whole.exists() or whole.is_symlink()) and _kind(whole) == "file":
            return Found(name_of(folder), (whole,), _config_beside(whole))
        if index.exists():
            return _indexed(index, name_of(folder))
    return _only_one(folder)


def _snapshot(folder: Path) -> Path | None:
    """Return the present snapshot, if ``folder`` is a model's in the cache of the Hugging Face Hub."""
    snapshots, main = folder / "snapshots", folder / "refs" / "main"
    if not snapshots.is_dir():
        return None
    if main.is_file():
        revision = main.read_text(encoding="utf-8", errors="replace").strip()[:80]
        if revision.isalnum() and (snapshots / revision).is_dir():
            return snapshots / revision
    return next((child for child in sorted(snapshots.iterdir()) if child.is_dir()), None)


def _only_one(folder: Path) -> Found:
    try:
        names = sorted(child.name for child in folder.iterdir() if not child.is_dir())
    except OSError as error:
        raise CheckpointError(f"{folder} can't be read: {error.strerror}", "Check its permissions") from error
    weights = [name for name in names if name.lower().endswith(_SUFFIXES)]
    indexes = [name for name in names if _ANY_INDEX.search(name)]
    if weights and all(_SHARD.match(name) for name in weights) and len(indexes) < 2:
        if indexes:
            return _indexed(folder / indexes[0], name_of(folder))
        raise CheckpointError(
            f"{folder.name} holds shards ({first_few(weights)}), but not their index, {WHOLE[0]}{INDEX} or the like",
            "Download or copy all files of the checkpoint into one folder",
        )
    if len(weights) > 1:
        raise CheckpointError(f"{folder.name} holds several checkpoints: {first_few(weights)}", "Open one of the files")
    if weights:
        return Found(name_of(folder / weights[0]), (folder / weights[0],), _config_beside(folder / weights[0]))
    for pattern, what, remedy in _OTHER_KINDS:
        if any(folder.glob(pattern)):
            raise CheckpointError(f"{folder.name} holds {what}", remedy)
    raise CheckpointError(
        f"the folder {folder.name} holds no weights: none of {', '.join(WHOLE)}, or another {' or '.join(_SUFFIXES)}",
        "Choose the folder or the file with the weights",
    )


def _indexed(index: Path, name: str) -> Found:
    """Find the shards that an index names; a name may not lead out of the index's folder."""
    weight_map = read_json(index).get("weight_map")
    if not (isinstance(weight_map, dict) and weight_map):
        raise CheckpointError(f"{index.name} has no weight_map that says which file holds what", "Save the model again")
    places: dict[str, Path] = {}
    for tensor, file in weight_map.items():
        if not isinstance(file, str) or not file or file in (".", "..") or re.search(r"[/\\:\0]", file):
            raise CheckpointError(
                f"{index.name} names {file!r}, which is no file of its own folder: such an index is not followed",
                "Use a checkpoint from a source that you trust",
            )
        places[tensor] = index.with_name(file)
    shards = sorted(set(places.values()))
    missing = [shard.name for shard in shards if not shard.exists()]
    if missing:
        raise CheckpointError(
            f"{counted(len(missing), 'shard')} of {len(shards)} are missing: {first_few(missing)}",
            "Download or copy all files of the checkpoint into one folder",
        )
    for shard in shards:
        if _kind(shard) == "folder":
            raise CheckpointError(f"{shard.name} is a folder and no shard", "Download the checkpoint again")
    return Found(name, tuple(shards), _config_beside(index), MappingProxyType(places))
