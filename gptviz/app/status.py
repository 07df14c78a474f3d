"""The status bar: what is under way, or how the last pass went."""

from PySide6.QtWidgets import QLabel, QStatusBar, QToolButton

from gptviz.panes.checks import summary
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.progress_bar import ProgressBar
from gptviz.widgets.still import Still
from gptviz.widgets.text import data_size
from gptviz.widgets.theme import UNIT, px


class StatusBar(QStatusBar):
    """Progress with Cancel while something runs; figures of the trace otherwise."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.activity = plain_label("", "Starting…")
        self.progress = ProgressBar("Progress")
        self.progress.setFixedWidth(px(160))
        self.progress.hide()
        self.cancel = QToolButton()
        self.cancel.setObjectName("flat")
        self.cancel.setText("Cancel")
        self.cancel.setToolTip("Stop what is under way (Esc)")
        self.cancel.clicked.connect(session.cancel)
        self.cancel.hide()
        self.checks = QToolButton()
        self.checks.setObjectName("flat")
        self.checks.setToolTip("Show the checks")
        self.checks.setAccessibleName("Checks")
        self.figures = QLabel()
        still = Still()  # its texts change many times a second while a pass runs
        still.row.setSpacing(2 * UNIT)
        for widget in (self.activity, self.progress, self.cancel):
            still.row.addWidget(widget)
        still.row.addStretch()
        for widget in (self.checks, self.figures):
            still.row.addWidget(widget)
        self.addWidget(still, 1)
        session.changed.connect(self._state_changed)

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        names = ("activity", "live", "trace", "notice")
        if any(getattr(new, name) is not getattr(old, name) for name in names):
            self._show_activity(new)
        if new.checks is not old.checks:
            self.checks.setText(summary(new))
            broken = "true" if new.checks.broken else "false"
            if self.checks.property("broken") != broken:
                self.checks.setProperty("broken", broken)
                self.checks.style().polish(self.checks)
        if new.trace is not old.trace or new.model is not old.model:
            self.figures.setText(_figures(new))

    def _show_activity(self, state: ViewState) -> None:
        busy = state.activity is not None
        self.progress.setVisible(busy)
        self.cancel.setVisible(busy)
        if state.activity is None:
            self.activity.setText(state.notice or ("Ready" if state.trace is not None else ""))
            return
        text, fraction = f"{state.activity.text}…", state.activity.fraction
        if state.live is not None and state.model is not None:
            stages = 9 + 23 * state.model.config.n_layers
            fraction = len(state.live) / stages
            text = f"{text}  stage {len(state.live)} / {stages}"
            if state.held is not None:
                text = f"Held after {state.held}, stage {len(state.live)} / {stages}"
        self.activity.setText(text)
        self.progress.set_share(fraction)


def _figures(state: ViewState) -> str:
    if state.trace is None or state.model is None:
        return ""
    trace = state.trace
    kept = sum(trace.has_block(layer) for layer in range(trace.config.n_layers))
    threads = "1 thread" if state.model.threads == 1 else f"{state.model.threads} threads"
    parts = (
        f"forward {trace.ms:,.0f} ms",
        f"trace {data_size(trace.nbytes)}, {kept} of {trace.config.n_layers} blocks at hand",
        f"CPU, {threads}",
    )
    stored = f"   ·   {state.model.stored_as} weights, computed in fp32" if state.model.stored_as != "fp32" else ""
    return "   ·   ".join(parts) + stored
