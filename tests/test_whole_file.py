"""A file that is there whole or not at all: names and permissions are those of any other file."""

from pathlib import Path

import pytest

from gptviz.whole_file import whole_file


@pytest.mark.parametrize("name", ["a" * 255, "値" * 85])
def test_a_name_may_be_as_long_as_any_files(tmp_path: Path, name: str) -> None:
    with whole_file(tmp_path / name) as file:
        file.write(b"new")

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"new")]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "file").touch(0o640)

    with whole_file(tmp_path / "file") as file:
        file.write(b"new")

    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
