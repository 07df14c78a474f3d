"""Between the worker, which asks for pages, and the painter of slides."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from gptviz.app.slides import SlidePainter
from gptviz.session.handover import Handover
from gptviz.session.session import Session
from gptviz.session.slides import Slide
from gptviz.widgets.theme import Theme


class SlidePrinting(QObject):
    """Paints each slide that the session's export asks for; ``theme`` says in which colours."""

    def __init__(self, session: Session, theme: Callable[[], Theme], parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._theme = theme
        self._painter: SlidePainter | None = None
        self._handover: Handover | None = None
        session.exporting.page_wanted.connect(self.page_wanted)
        session.exporting.slides_ended.connect(self._let_go)

    @Slot(object, object)
    def page_wanted(self, slide: object, handover: Handover) -> None:
        """Paint a slide and hand its bytes over."""
        try:
            data = self._paint(slide, handover)
        except Exception:
            self._session.cancel()  # else the worker would wait for ever
            raise
        handover.give(data)

    def _paint(self, slide: object, handover: Handover) -> bytes:
        if handover is not self._handover:
            self._let_go()
            self._handover = handover
        if not isinstance(slide, Slide):
            return b"" if self._painter is None else self._painter.finish()
        if self._painter is None:
            self._painter = SlidePainter(self._theme(), f"{slide.prompt} · {slide.model}")
        return self._painter.paint(slide)

    @Slot()
    def _let_go(self) -> None:
        if self._painter is not None:
            self._painter.close()
        self._painter = self._handover = None
