"""The transport: walking through the stages, and stepping through a live pass."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QSlider, QToolButton, QWidget

from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.walk import SPEEDS
from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.still import Still
from gptviz.widgets.theme import UNIT, mono_font, px

if TYPE_CHECKING:
    from gptviz.capture.stages import Stage

_NOTHING_YET = "no pass yet"


class Transport(QWidget):
    """First, back, forward, last, by stage and by block; play; a slider; and live stepping."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        walk, live = session.walk, session.live
        self._icons: dict[QToolButton, str] = {}
        self._listed: tuple[Stage, ...] = ()  # the stages that there is room for the names of
        self.first = self._button("first", "First stage (Home)", walk.first)
        self.block_back = self._button("block-back", "Previous block (Shift+←)", walk.previous_block)
        self.back = self._button("back", "Previous stage (←)", walk.back)
        self.play = self._button("run", "Play or pause (Space)", walk.toggle)
        self.forward = self._button("forward", "Next stage (→)", walk.forward)
        self.block_forward = self._button("block-forward", "Next block (Shift+→)", walk.next_block)
        self.last = self._button("last", "Last stage (End)", walk.last)
        self.speed = QComboBox()
        self.speed.addItems([f"{speed:g} / s" for speed in SPEEDS])
        self.speed.setCurrentIndex(SPEEDS.index(session.state.walk.speed))
        self.speed.setToolTip("Stages a second while playing")
        self.speed.setAccessibleName("Speed")
        self.speed.activated.connect(lambda index: walk.set_speed(SPEEDS[index]))
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Stage")
        self.slider.setToolTip("Drag to any stage of the pass")
        self.slider.valueChanged.connect(walk.go)
        self.place = plain_label("readout")
        self._place_row = Still()
        self._place_row.row.addWidget(self.place)
        self.step_live = self._text_button(
            "Step live", "Run the real pass and hold it at every stage (F10)", live.start
        )
        self.next = self._text_button("Next", "Let the held pass compute one more stage (F11)", live.next)
        self.run_on = self._text_button("Continue", "Go on to the next breakpoint or the end (F9)", live.run_on)
        self.stop = self._text_button(
            "Stop", "Give up the held pass; what was on screen comes back (Esc)", session.cancel
        )
        self._lay_out()
        session.changed.connect(self._state_changed)
        self._show(session.state)
        self.apply_theme()

    def apply_theme(self) -> None:
        """Draw the icons in the theme's colours, and take over its sizes."""
        self._fit_place()
        self.slider.setMinimumWidth(px(12 * UNIT))
        for button, name in self._icons.items():
            button.setIcon(icon(name))
            button.setIconSize(QSize(px(16), px(16)))

    def _fit_place(self) -> None:
        """Keep room for the longest name: a place that grew and shrank would lay out the whole window at each step."""
        stages, metrics = self._session.walk.stages, QFontMetrics(mono_font(12))
        texts = (self._place(stages, index) for index in range(len(stages)))
        width = max(map(metrics.horizontalAdvance, texts), default=metrics.horizontalAdvance(_NOTHING_YET))
        self._place_row.keep_room(width + px(UNIT))
        self._listed = stages

    def _button(self, name: str, tip: str, call: Callable[[], None]) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRepeat(name in ("back", "forward"))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(call)
        self._icons[button] = name
        return button

    def _text_button(self, text: str, tip: str, call: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(call)
        return button

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * UNIT, 0, 3 * UNIT, UNIT)
        layout.setSpacing(UNIT)
        for button in self._icons:
            layout.addWidget(button)
        layout.addWidget(self.speed)
        layout.addSpacing(UNIT)
        layout.addWidget(self.slider, 1)
        layout.addSpacing(UNIT)
        layout.addWidget(self._place_row)
        layout.addSpacing(2 * UNIT)
        for widget in (self.step_live, self.next, self.run_on, self.stop):
            layout.addWidget(widget)

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        names = ("trace", "selection", "walk", "held", "activity")
        if any(getattr(new, name) is not getattr(old, name) for name in names):
            self._show(new)

    def _show(self, state: ViewState) -> None:
        stages, index = self._session.walk.stages, self._session.walk.index
        for widget in (*self._icons, self.slider, self.speed):
            widget.setEnabled(bool(stages))
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(stages) - 1))
        self.slider.setPageStep(23)
        self.slider.setValue(index)
        self.slider.blockSignals(False)
        playing = "pause" if state.walk.playing else "run"
        if self._icons[self.play] != playing:
            self._icons[self.play] = playing
            self.play.setIcon(icon(playing))
        if stages is not self._listed:
            self._fit_place()
        self.place.setText(self._place(stages, index) if stages else _NOTHING_YET)
        held = state.held is not None
        self.step_live.setVisible(not held)
        self.step_live.setEnabled(state.model is not None)
        for button in (self.next, self.run_on, self.stop):
            button.setVisible(held)

    def _place(self, stages: "tuple[Stage, ...]", index: int) -> str:
        stage = stages[index]
        part = [] if stage.layer is None else [f"block {stage.layer + 1}"]
        if stage.family.value not in ("shortcut", "norm"):
            part.append(stage.family.value)
        part.append(stage.local_name.removeprefix("att.").removeprefix("ff."))
        return f"stage {index + 1} / {len(stages)}: {' · '.join(part)}"
