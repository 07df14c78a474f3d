"""Between the worker, which asks for pages, and the painter of slides."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from gptviz.app.slides import SlidePainter, one_line
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
        self._wanted: tuple[object, Handover] | None = None
        self._is_shown = False  # the wanted slide, laid out and not painted yet
        self._turn = QTimer(self)  # a step a turn of the event loop: else one page comes straight after the other
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._paint_wanted)
        session.exporting.page_wanted.connect(self.page_wanted)
        session.exporting.slides_begun.connect(self._let_go)
        session.exporting.slides_ended.connect(self._let_go)

    @Slot(object, object)
    def page_wanted(self, slide: object, handover: Handover) -> None:
        """Paint a slide soon, and hand its bytes over."""
        self._wanted, self._is_shown = (slide, handover), False
        self._turn.start()

    @Slot()
    def _paint_wanted(self) -> None:
        if self._wanted is None:
            return
        slide, handover = self._wanted
        try:
            data = self._step(slide)
        except Exception:
            self._session.cancel()  # else the worker would wait for ever
            raise
        if data is None:
            self._turn.start()
        else:
            self._wanted = None
            handover.give(data)

    def _step(self, slide: object) -> bytes | None:
        """Do one thing for the slide that is wanted; return its bytes when all is done."""
        if not isinstance(slide, Slide):
            return b"" if self._painter is None else self._painter.finish()
        if self._painter is None:
            self._painter = SlidePainter(self._theme(), f"{one_line(slide.prompt)} · {slide.model}")
        elif not self._is_shown:
            self._painter.show(slide)
            self._is_shown = True
        else:
            return self._painter.paint()
        return None

    @Slot()
    def _let_go(self) -> None:
        self._turn.stop()
        self._wanted = None
        if self._painter is not None:
            self._painter.close()
            self._painter = None
