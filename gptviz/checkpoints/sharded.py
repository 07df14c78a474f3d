"""Several files that are one checkpoint."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from torch import Tensor

from gptviz.checkpoints.errors import CheckpointError, first_few
from gptviz.checkpoints.recognise import open_tensors

if TYPE_CHECKING:
    from gptviz.checkpoints.tensor_file import TensorFile


class ShardedFile:
    """The shards that an index names; see ``TensorFile``."""

    rest: Mapping[str, object] = MappingProxyType({})

    def __init__(self, shards: Sequence[Path], places: Mapping[str, Path]) -> None:
        files = {shard: open_tensors(shard) for shard in shards}
        for file in files.values():
            file.forget()
        absent = [name for name, shard in places.items() if name not in files[shard].entries]
        if absent:
            raise CheckpointError(
                f"the index promises tensors that its shards don't hold: {first_few(absent)}",
                "Download or copy all files of the checkpoint again",
            )
        self._file_of: dict[str, TensorFile] = {}
        for shard, file in files.items():
            for name in file.entries:
                if name in places and places[name] != shard:
                    continue  # the index decides
                self._file_of[name] = file
        self.entries = {name: file.entries[name] for name, file in self._file_of.items()}

    def tensor(self, name: str) -> Tensor:
        return self._file_of[name].tensor(name)

    def rows(self, name: str, start: int, stop: int) -> Tensor:
        return self._file_of[name].rows(name, start, stop)

    def forget(self) -> None:
        for file in {id(file): file for file in self._file_of.values()}.values():
            file.forget()

    def owned(self, name: str) -> bool:
        return self._file_of[name].owned(name)

    def done_with(self, name: str) -> None:
        self._file_of[name].done_with(name)

    def same(self, one: str, other: str) -> bool:
        file = self._file_of[one]
        return file is self._file_of[other] and file.same(one, other)
