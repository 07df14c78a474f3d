"""A chain of operations as a band whose height is the number of features; a break is marked where it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, Theme, blend, color, current, mono_font, px, text_font

_LEAST_HEIGHT, _MOST_HEIGHT = 168, 400  # px
_TOP, _BOTTOM = 44, 46  # px for the words above and below the band
_JOINT = 20  # px between two operations
_LEAST = 0.08  # of the band's height, so that one feature can be seen


@dataclass(frozen=True)
class Link:
    """One operation: ``takes`` and ``gives`` are numbers of features, None where there is no such side.

    ``wrong`` marks that ``arrives`` is not what it takes; a link that is not ``reached`` has no numbers yet.
    """

    title: str
    operation: str
    family: str
    takes: int | None
    gives: int | None
    arrives: int | None = None
    out: str = ""  # the shape that came out
    reached: bool = True
    wrong: bool = False
    silent: bool = False


class ShapeChain(QWidget):
    """Draws links side by side, in equal columns."""

    def __init__(self) -> None:
        super().__init__()
        self._links: tuple[Link, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._fit()

    @property
    def links(self) -> tuple[Link, ...]:
        """What is drawn."""
        return self._links

    def set_links(self, links: Sequence[Link], description: str) -> None:
        """Draw ``links``; ``description`` tells them to who can't see them."""
        self._links = tuple(links)
        self.setAccessibleDescription(description)
        self.update()

    def column(self, place: int) -> QRectF:
        """Return where the link at ``place`` is drawn."""
        width = self.width() / max(1, len(self._links))
        return QRectF(place * width, 0, width, self.height())

    def sizeHint(self) -> QSize:
        return QSize(px(900), px(_LEAST_HEIGHT))

    def _fit(self) -> None:
        self.setMinimumHeight(px(_LEAST_HEIGHT))
        self.setMaximumHeight(px(_MOST_HEIGHT))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        widest = max((size for link in self._links for size in (link.takes, link.gives) if size), default=1)
        for place, link in enumerate(self._links):
            self._draw_link(painter, self.column(place), link, widest)
        for place, link in enumerate(self._links):
            if link.wrong:
                self._draw_break(painter, self.column(place), link)

    def _draw_link(self, painter: QPainter, box: QRectF, link: Link, widest: int) -> None:
        theme = current()
        body = box.adjusted(px(_JOINT) / 2, px(_TOP), -px(_JOINT) / 2, -px(_BOTTOM))
        painter.setPen(QColor(theme.text if link.reached else theme.muted))
        painter.setFont(text_font(13))
        draw_text(painter, QRectF(body.x(), 0, body.width(), px(20)), link.title)
        painter.setFont(mono_font(11))
        painter.setPen(QColor(theme.muted))
        draw_text(painter, QRectF(body.x(), px(20), body.width(), px(18)), link.operation)
        self._draw_band(painter, body, link, widest)
        painter.setFont(mono_font(12))
        below = QRectF(body.x(), body.bottom() + px(UNIT), body.width(), px(18))
        painter.setPen(QColor(theme.text if link.out else theme.muted))
        draw_text(painter, below, link.out or ("" if link.wrong else "not reached"))

    def _draw_band(self, painter: QPainter, body: QRectF, link: Link, widest: int) -> None:
        theme = current()
        left = _share(link.takes if link.takes is not None else link.gives, widest) * body.height()
        right = _share(link.gives if link.gives is not None else link.takes, widest) * body.height()
        middle = body.center().y()
        band = QPolygonF(
            [
                QPointF(body.left(), middle - left / 2),
                QPointF(body.right(), middle - right / 2),
                QPointF(body.right(), middle + right / 2),
                QPointF(body.left(), middle + left / 2),
            ]
        )
        line, fill = self._colours(theme, link)
        pen = QPen(line, 1, Qt.PenStyle.SolidLine if link.reached else Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawPolygon(band)
        painter.setPen(QColor(theme.text if link.reached else theme.muted))
        painter.setFont(mono_font(12))
        inside = QRectF(body.x() + px(6), middle - px(9), body.width() - px(12), px(18))
        if link.takes is not None:
            draw_text(painter, inside, f"{link.takes:,}")
        if link.gives is not None:
            draw_text(painter, inside, f"{link.gives:,}", Qt.AlignmentFlag.AlignRight)

    @staticmethod
    def _colours(theme: Theme, link: Link) -> tuple[QColor, QColor]:
        if link.wrong:
            own = theme.warning if link.silent else theme.error
        elif link.reached:
            own = theme.families.get(link.family, theme.muted)
        else:
            return QColor(theme.hairline), QColor(theme.panel)
        return QColor(own), blend(own, theme.panel, 0.14)

    def _draw_break(self, painter: QPainter, box: QRectF, link: Link) -> None:
        """Mark the joint before a link with the number that arrives."""
        theme = current()
        tone = theme.warning if link.silent else theme.error
        joint = box.left()
        painter.setPen(QPen(color(tone), 2, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(joint, px(_TOP) - px(UNIT)), QPointF(joint, box.bottom() - px(22)))
        said = f"{link.arrives:,} ≠ {link.takes:,}" if link.arrives is not None and link.takes is not None else "≠"
        painter.setFont(mono_font(12))
        width = painter.fontMetrics().horizontalAdvance(said) + 2 * px(6)
        tag = QRectF(joint - width / 2, box.bottom() - px(22), width, px(20))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tone))
        painter.drawRoundedRect(tag, px(4), px(4))
        painter.setPen(QColor(theme.panel))
        draw_text(painter, tag, said, Qt.AlignmentFlag.AlignHCenter)


def _share(size: int | None, widest: int) -> float:
    return max(_LEAST, (size or 0) / widest)
