"""Walking through the stages of a trace: by stage, by block, or played."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.capture.stages import Stage, catalogue

if TYPE_CHECKING:
    from gptviz.session.session import Session

SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)  # stages a second


class Walk(QObject):
    """The transport: first, back, forward, last, play."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages of the model on screen; none before the first run."""
        trace = self._session.state.trace
        return () if trace is None else catalogue(trace.config)

    @property
    def index(self) -> int:
        """Place of the selected stage; 0 while none is selected."""
        name = self._session.state.selection.stage
        return next((stage.index for stage in self.stages if stage.name == name), 0)

    def go(self, index: int) -> None:
        """Select the stage at ``index``, or the nearest there is."""
        if self.stages:
            self._session.select_stage(self.stages[min(max(index, 0), len(self.stages) - 1)].name)

    def forward(self) -> None:
        self.go(self.index + 1)

    def back(self) -> None:
        self.go(self.index - 1)

    def first(self) -> None:
        self.go(0)

    def last(self) -> None:
        self.go(len(self.stages) - 1)

    def next_block(self) -> None:
        """Go to the first stage of the next part: a block, or what follows the blocks."""
        stages, here = self.stages, self.index
        later = (stage.index for stage in stages[here:] if stage.layer != stages[here].layer)
        self.go(next(later, len(stages) - 1))

    def previous_block(self) -> None:
        """Go to the first stage of the present part, or of the one before if that is where we are."""
        stages = self.stages
        if not stages:
            return
        here = max(self.index - 1, 0)
        while here > 0 and stages[here - 1].layer == stages[here].layer:
            here -= 1
        self.go(here)

    def play(self) -> None:
        """Go forward by itself until the end or ``pause``; from the start if at the end."""
        if not self.stages:
            return
        if self.index == len(self.stages) - 1:
            self.first()
        self._session.change(walk=replace(self._session.state.walk, playing=True))
        self._timer.start(self._interval())

    def pause(self) -> None:
        self._timer.stop()
        if self._session.state.walk.playing:
            self._session.change(walk=replace(self._session.state.walk, playing=False))

    def toggle(self) -> None:
        """Play if paused, pause if playing."""
        if self._session.state.walk.playing:
            self.pause()
        else:
            self.play()

    def set_speed(self, speed: float) -> None:
        """Play ``speed`` stages a second."""
        self._session.change(walk=replace(self._session.state.walk, speed=speed))
        self._timer.setInterval(self._interval())

    def close(self) -> None:
        self._timer.stop()

    def _interval(self) -> int:
        return round(1000 / self._session.state.walk.speed)

    @Slot()
    def _tick(self) -> None:
        if self._session.state.activity is not None:
            return  # the block is being replayed: wait until it can be seen
        if self.index >= len(self.stages) - 1:
            self.pause()
        else:
            self.forward()
