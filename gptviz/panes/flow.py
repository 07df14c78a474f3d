"""Flow: the whole model as a river from left to right; one block is open."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gptviz.analysis.candidates import ranking
from gptviz.analysis.flow import Place, numbers, river
from gptviz.capture.stages import block_name
from gptviz.panes.pane import Pane, differs
from gptviz.session.explain import LOAD_THE_MODEL
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.flow_plan import FlowGroup, FlowPlan, FlowStage, Kind, Lane, Likely
from gptviz.widgets.flow_preparing import FlowPreparing
from gptviz.widgets.flow_strips import StripValues
from gptviz.widgets.flow_view import FlowView
from gptviz.widgets.note import Note
from gptviz.widgets.text import percent, shape, visible
from gptviz.widgets.theme import UNIT

if TYPE_CHECKING:
    from gptviz.capture.trace import Trace

_LIKELIEST = 5
_SHARES = ("att.weights", "att.dropout")


class FlowPane(Pane):
    """Click selects, double click opens; ←/→ walk the stages, ↑/↓ the tokens."""

    name = "flow"
    title = "Flow"
    shows_selected_stage = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.view = FlowView()
        self.preparing = FlowPreparing(self.view)
        self.view.strips.values = self._values
        self.view.stage_clicked.connect(self._stage_clicked)
        self.view.row_clicked.connect(self._row_clicked)
        self.view.stage_opened.connect(self._stage_opened)
        self.view.block_opened.connect(self._block_opened)
        self.view.stage_walked.connect(self._walk)
        self.view.row_walked.connect(self._walk_rows)
        self.setFocusProxy(self.view)
        self.note = Note()
        self.note.setContentsMargins(3 * UNIT, UNIT, 3 * UNIT, UNIT)
        self.note.hide()
        self._places: dict[str, Place] = {}
        self._ranked: tuple[object, int, tuple[Likely, ...]] | None = None  # of which tensors and row
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.note)

    # --- showing -----------------------------------------------------------------------------------------

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if new.trace is None:
            self._places = {}
            self.view.set_plan(FlowPlan())
            return
        before = old.selection if old is not None and old.trace is not None else None
        now = new.selection
        other_trace = differs(old, new, "trace", "trace_pieces")
        opened = before is None or before.layer != now.layer
        turned = before is None or (before.row, before.head) != (now.row, now.head)
        rescaled = old is not None and old.options.rescale_rows != new.options.rescale_rows
        if other_trace or opened or turned or rescaled:
            self._forget(old, new)
            self._show_plan(new)
            if old is not None:
                self.preparing.begin()
                self.session.turns.add(self.view, self._prepare)
        self.view.set_selected(now.stage, new.query if new.query is not None else -1)
        if now.stage is not None and (opened or before is None or before.stage != now.stage):
            self.view.reveal(now.stage)
        elif opened and before is not None:
            self.view.reveal_block()

    @Slot()
    def _prepare(self) -> None:
        if not self.preparing.go_on():
            self.session.turns.add(self.view, self._prepare)

    def _forget(self, old: ViewState | None, new: ViewState) -> None:
        """Drop the pictures that are no longer true; those of the same pass's other stages stay."""
        assert new.trace is not None
        same_pass = old is not None and old.trace is not None and old.trace.kept is new.trace.kept
        if old is None or not same_pass or old.selection.row != new.selection.row:
            self.view.strips.forget()
        else:
            kept = new.trace.kept
            inside = {name for name in kept if ".att." in name}  # a head of them was drawn
            self.view.strips.forget(lambda name: name not in kept or name in inside)

    def _show_plan(self, state: ViewState) -> None:
        trace, now = state.trace, state.selection
        assert trace is not None
        places = river(trace.config, now.layer)
        self._places = {place.stage.name: place for place in places}
        config, prefix = trace.config, block_name(now.layer)
        heads = f"head {now.head + 1} of {config.n_heads}"
        wide = f"{config.ff_dim / config.emb_dim:.3g}"
        groups = (
            FlowGroup("Embedding", "embedding", "ids", "drop_emb"),
            FlowGroup(f"Block {now.layer + 1} of {config.n_layers}", "shortcut", f"{prefix}.norm1", f"{prefix}.norm1"),
            FlowGroup(f"Attention · {heads}", "attention", f"{prefix}.att.scores", f"{prefix}.att.out_proj"),
            FlowGroup(
                f"Feed-forward · {wide} × wide", "feed-forward", f"{prefix}.ff.layers.0", f"{prefix}.ff.layers.2"
            ),
            FlowGroup("Output", "head", "final_norm", "next"),
        )
        inside = f"{prefix}.norm1"
        self.note.setVisible(state.is_recorded and not trace.has(inside))
        self.note.setText(f"Block {now.layer + 1}'s inside was not recorded. {LOAD_THE_MODEL} to see it.")
        ids = [str(token) for token in trace.array("ids")[now.row].tolist()] if trace.has("ids") else None
        self.view.set_plan(
            FlowPlan(
                stages=tuple(self._stage(place, trace, now.head) for place in places),
                groups=groups,
                open_block=(f"{prefix}.norm1", f"{prefix}.shortcut2"),
                tokens=self._tokens(state),
                ids=ids,
                likely=self._likely(trace, now.row),
                missing=frozenset(name for name in self._places if not trace.has(name)),
            )
        )

    def _stage(self, place: Place, trace: "Trace", head: int) -> FlowStage:
        stage, heads = place.stage, trace.config.n_heads
        return FlowStage(
            name=stage.name,
            title=place.title,
            family=stage.family.value,
            kind=Kind(place.kind),
            lane=Lane(place.lane),
            shape=shape(stage.shape(trace.config, trace.batch, trace.tokens)),
            operation=stage.operation,
            sources=place.sources,
            shortcut=place.shortcut,
            beside=place.beside,
            plus=place.plus,
            block=place.closed,
            slice=(head / heads, (head + 1) / heads) if place.sliced else None,
        )

    def _tokens(self, state: ViewState) -> tuple[str, ...]:
        assert state.trace is not None
        ids = state.trace.ids[state.selection.row].tolist()
        if [piece.id for piece in state.trace_pieces] == ids:
            return tuple(visible(piece.text) for piece in state.trace_pieces)
        return tuple(visible(self.session.token_text(token)) for token in ids)

    def _likely(self, trace: "Trace", row: int) -> tuple[Likely, ...] | None:
        if not (trace.has("last") and trace.has("next")):
            return None
        if self._ranked is not None and self._ranked[0] is trace.kept and self._ranked[1] == row:
            return self._ranked[2]
        ranked = ranking(trace.array("last")[row], _LIKELIEST)
        best = float(ranked.probabilities[0])
        candidates = (ranked[place] for place in range(len(ranked)))
        likely = tuple(
            Likely(visible(self.session.token_text(one.id)), percent(one.probability), one.probability / best)
            for one in candidates
        )
        self._ranked = trace.kept, row, likely
        return likely

    def _values(self, name: str) -> StripValues | None:
        """Return what a stage's place shows; None if it is not at hand."""
        state = self.session.state
        place = self._places.get(name)
        if state.trace is None or place is None:
            return None
        values = numbers(state.trace, place.stage, state.selection.row, state.selection.head)
        return None if values is None else StripValues(values, place.stage.local_name in _SHARES)

    def spot(self, part: str) -> tuple[QWidget, QRect] | None:
        """Also ``selected``: the place of the selected stage."""
        if part != "selected":
            return super().spot(part)
        box = self.view.box(self.session.state.selection.stage or "")
        return None if box is None else (self.view.viewport(), box.toAlignedRect())

    def reveal(self) -> None:
        stage = self.session.state.selection.stage
        if stage is not None:
            self.view.reveal(stage)

    # --- intents -----------------------------------------------------------------------------------------

    @Slot(str)
    def _stage_clicked(self, name: str) -> None:
        self.session.select_stage(name)

    @Slot(int)
    def _row_clicked(self, row: int) -> None:
        self.session.select(query=row)

    @Slot(str)
    def _stage_opened(self, name: str) -> None:
        self.session.select_stage(name)
        self.pane_wanted.emit("stage")

    @Slot(int)
    def _block_opened(self, layer: int) -> None:
        self.session.select(layer=layer)
        self.session.select_stage(f"{block_name(layer)}.norm1")

    @Slot(int)
    def _walk(self, step: int) -> None:
        walk = self.session.walk
        walk.go(walk.index + step if self.session.state.selection.stage is not None else 0)

    @Slot(int)
    def _walk_rows(self, step: int) -> None:
        state = self.session.state
        if state.trace is not None and state.query is not None:
            self.session.select(query=min(max(state.query + step, 0), state.trace.tokens - 1))
