"""The steps of the tour: what each one says, shows and points at. They are files in ``resources/tour``."""

from dataclasses import dataclass, fields
from functools import cache

from gptviz import resources
from gptviz.tour.text import Paragraph, TourTextError, parse


@dataclass(frozen=True)
class Step:
    """One step: its text, and how it wants the window.

    ``panes`` are the panes in sight; ``lab`` is the lab that takes their place. ``stage`` is a stage's name in its
    block, or its whole name outside the blocks. ``layer``, ``head`` and ``token`` are indices, -1 the last one; what is
    None stays as the person has it. ``point`` is what is pointed at: ``pane/part``, ``lab/part`` or ``header/part``.
    ``ask`` is the question that comes before it.
    """

    name: str
    title: str
    family: str
    paragraphs: tuple[Paragraph, ...]
    panes: tuple[str, ...] = ()
    lab: str | None = None
    stage: str | None = None
    layer: int | None = None
    head: int | None = None
    token: int | None = None
    point: str | None = None
    ask: str | None = None


_KEYS = tuple(field.name for field in fields(Step) if field.name not in ("name", "paragraphs"))


@cache
def steps() -> tuple[Step, ...]:
    """Read all steps, in the order of their files' names."""
    files = sorted(resources.path("tour").glob("*.md"))
    return tuple(read_step(file.stem, file.read_text(encoding="utf-8")) for file in files)


def read_step(name: str, source: str) -> Step:
    """Read one file: lines ``key: value`` between two lines of ``---``, then the text.

    Raises
    ------
    TourTextError
        If the front matter is incomplete or has an unknown key, or the text is not well formed.
    """
    opening, _, rest = source.partition("---\n")
    matter, dashes, body = rest.partition("\n---\n")
    if opening.strip() or not dashes:
        raise TourTextError(f"{name} does not begin with its front matter between two lines of ---")
    given = {}
    for line in matter.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in _KEYS:
            raise TourTextError(f"{name} has an unknown line {line!r}: the keys are {', '.join(_KEYS)}")
        given[key.strip()] = value.strip()
    if not (given.get("title") and given.get("family")):
        raise TourTextError(f"{name} needs a title and a family")
    indices = {key: int(given[key]) for key in ("layer", "head", "token") if key in given}
    words = {key: given[key] for key in ("lab", "stage", "point", "ask") if key in given}
    panes = tuple(given.get("panes", "").replace(",", " ").split())
    return Step(name, given["title"], given["family"], parse(body), panes, **words, **indices)  # type: ignore[arg-type]
