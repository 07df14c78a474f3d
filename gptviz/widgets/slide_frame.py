"""A slide of 16 to 9: title above, one content between, and a foot that tells where it stands."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.stage_title import StageTitle
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, color, current, px, text_font

WIDTH, HEIGHT = 1280, 720  # px
SCALE = 1.5  # of type and controls: a slide is read from the last row
_SIDE, _TOP, _BOTTOM = 16 * UNIT, 11 * UNIT, 6 * UNIT


class SlideFrame(QWidget):
    """``show_content`` puts a widget between title and foot; the text is painted in the order in which it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(WIDTH, HEIGHT)
        self.title = StageTitle()
        self.place = plain_label("muted")
        self.place.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.foot = _Foot()
        top = QHBoxLayout()
        top.setSpacing(6 * UNIT)
        top.addWidget(self.title, 1)
        top.addWidget(self.place)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(_SIDE, _TOP, _SIDE, _BOTTOM)
        self._column.setSpacing(3 * UNIT)
        self._column.addLayout(top)
        self._column.addWidget(self.foot)
        self._content: QWidget | None = None

    def add_content(self, content: QWidget) -> None:
        """Take a content that can be shown."""
        content.hide()
        self._column.insertWidget(self._column.count() - 1, content, 1)
        self.foot.raise_()

    def show_content(self, content: QWidget) -> None:
        """Show one of the contents."""
        if self._content is not None and self._content is not content:
            self._content.hide()
        self._content = content
        content.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), color(current().panel))


class _Foot(QWidget):
    """A line as long as the way so far, and below it prompt, model and page number."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = ("", "", "")
        self._share, self._family = 0.0, "shortcut"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_texts(self, prompt: str, model: str, page: int, pages: int, family: str) -> None:
        """Show where the slide stands, in the colour of ``family``."""
        self._texts = (prompt, model, f"{page} / {pages}")
        self._share, self._family = page / max(1, pages), family
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(24))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(QRectF(0, 0, self.width(), 2), color(current().hairline))
        painter.fillRect(QRectF(0, 0, self.width() * self._share, 2), color(current().families[self._family]))
        painter.setFont(text_font(11))
        painter.setPen(color(current().muted))
        prompt, model, page = self._texts
        metrics = QFontMetricsF(painter.font())
        box = QRectF(0, px(6), self.width(), self.height() - px(6))
        right = metrics.horizontalAdvance(page)
        middle = min(metrics.horizontalAdvance(model) + 1, 0.5 * self.width())
        draw_text(painter, QRectF(0, box.top(), box.width() - right - middle - 16 * UNIT, box.height()), prompt)
        left = box.width() - right - middle - 8 * UNIT
        draw_text(painter, QRectF(left, box.top(), middle, box.height()), model)
        draw_text(painter, box, page, Qt.AlignmentFlag.AlignRight)
