"""Which number of the selected stage a selection means, and the selection that means a number."""

from typing import TYPE_CHECKING, Any

from gptviz.analysis.place import Place
from gptviz.capture.stages import Stage, catalogue

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace
    from gptviz.model.config import GPTConfig
    from gptviz.session.state import Selection

ATTENTION_VIEWS = ("scores", "scaled", "masked", "weights")


def stage_named(config: "GPTConfig", name: str | None) -> Stage | None:
    """Return the stage ``name`` of a model of ``config``; None if it has none."""
    return next((stage for stage in catalogue(config) if stage.name == name), None)


def selected_place(selection: "Selection", trace: "Trace | None") -> Place | None:
    """Return where the selected number is; None without a trace or a stage.

    Every stage has one: a key that was not chosen is the query itself, a feature the first one, and a token of
    the vocabulary the likeliest one. A feature beyond the stage's width wraps around: within a head this is the
    place that the feature has there.
    """
    stage = None if trace is None else stage_named(trace.config, selection.stage)
    if trace is None or stage is None:
        return None
    shape = stage.shape(trace.config, trace.batch, trace.tokens)
    positions = iter(_positions(selection, trace.tokens))
    index = []
    for letter, size in zip(stage.dims, shape, strict=True):
        if letter == "B":
            index.append(selection.row)
        elif letter == "H":
            index.append(selection.head)
        elif letter == "T":
            index.append(next(positions))
        elif letter == "V":
            index.append(_token(selection, trace))
        else:
            index.append((selection.feature or 0) % size)
    return Place(stage.name, tuple(index))


def _positions(selection: "Selection", tokens: int) -> tuple[int, int]:
    query = selection.query if selection.query >= 0 else tokens - 1
    return query, query if selection.key is None else selection.key


def _token(selection: "Selection", trace: "Trace") -> int:
    if selection.token is not None:
        return selection.token
    return int(trace.array("next")[selection.row, 0]) if trace.has("next") else 0


def selection_of(place: Place, config: "GPTConfig") -> dict[str, Any]:
    """Return what to select so that ``place``, in a stage of a model of ``config``, is the selected number."""
    stage = stage_named(config, place.name)
    assert stage is not None
    what: dict[str, Any] = {}
    positions = iter(("query", "key"))
    for letter, at in zip(stage.dims, place.index, strict=True):
        if letter == "T":
            what[next(positions)] = at
        elif letter != "1":
            what[{"B": "row", "H": "head", "V": "token"}.get(letter, "feature")] = at
    return what


def what_belongs_to(stage: str) -> tuple[dict[str, Any], str | None]:
    """Return what is selected with a stage, and the view of attention that shows it, if it is one."""
    what: dict[str, Any] = {"stage": stage}
    local = stage
    if stage.startswith("trf_blocks."):
        _, layer, local = stage.split(".", 2)
        what["layer"] = int(layer)
    if local in ("norm1", "norm2", "final_norm"):
        what["norm"] = local
    view = local.removeprefix("att.")
    return what, view if view in ATTENTION_VIEWS else None
