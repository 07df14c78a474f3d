"""A table as it goes into a file: one header row, then numbers at full precision and texts as they are."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from gptviz.analysis.stage_tensor import Matrix

Cell = str | int | float | bool | None
Row = Sequence[Cell]

_AT_ONCE = 2**16  # characters that are gathered before they are written


@dataclass(frozen=True)
class Table:
    """``header`` names the columns, with units; ``read`` yields ``count`` rows, in whatever thread writes them.

    ``part`` says which part of a stage it is, such as "head 1"; empty if it is all of it.
    """

    name: str  # part of a file's name
    header: tuple[str, ...]
    count: int
    read: Callable[[], Iterable[Row]]
    part: str = ""


def table_of(name: str, header: Sequence[str], rows: Iterable[Row], part: str = "") -> Table:
    """Return a table of rows that are there already."""
    kept = tuple(rows)
    return Table(name, tuple(header), len(kept), lambda: kept, part)


def write_csv(table: Table, file: BinaryIO, on_rows: Callable[[int], object] = lambda _: None) -> int:
    """Write ``table`` as RFC 4180 says, in UTF-8; return the number of rows below the header.

    A number is written so that reading it gives the same number; what is missing is an empty field. No text is
    altered: one that begins with = is what the model's vocabulary has, so a spreadsheet has to be told that it is text.
    ``on_rows`` hears from time to time how many rows are written.
    """
    part = io.StringIO(newline="")
    writer = csv.writer(part, lineterminator="\r\n")
    writer.writerow(table.header)
    rows = 0
    for row in table.read():
        writer.writerow([_written(cell) for cell in row])
        rows += 1
        if part.tell() >= _AT_ONCE:
            _move(part, file)
            on_rows(rows)
    _move(part, file)
    return rows


def matrix_table(matrix: "Matrix", tokens: Sequence[str], ids: Sequence[int], part: str) -> Table:
    """Return the numbers of ``matrix``, a row for each token; ``tokens`` are the texts of all positions.

    Each column of numbers says which ``part`` of the stage it is of: a file has no other place for that.
    """
    across = {"key": "key", "feature": "feature", "token": "token ID"}[matrix.columns]
    columns = [f"{part} {across} {place}".lstrip() for place in range(matrix.values.shape[1])]
    values, positions = matrix.values, matrix.positions

    def rows() -> Iterable[Row]:
        for place, position in enumerate(positions):
            yield (position, ids[position], tokens[position], *values[place].tolist())

    header = ("position", "token ID", "token", *columns)
    return Table(matrix.stage.name, header, len(positions), rows, part)


def _written(cell: Cell) -> Any:
    return "" if cell is None else repr(float(cell)) if isinstance(cell, float) else cell


def _move(part: io.StringIO, file: BinaryIO) -> None:
    file.write(part.getvalue().encode("utf-8", "surrogatepass"))
    part.seek(0)
    part.truncate()
