"""A bar that shows how a whole is shared among families, with the names below."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import UNIT, current, px, text_font

_BAR, _WORDS = 14, 18  # px
_GAP = 2  # px between two shares


@dataclass(frozen=True)
class Share:
    """One part of the whole."""

    name: str
    family: str
    value: int


class ShareBar(QWidget):
    """Shares from left to right; one of nothing is left out."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._shares: tuple[Share, ...] = ()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fit()

    def set_shares(self, shares: Sequence[Share]) -> None:
        """Show ``shares``."""
        self._shares = tuple(share for share in shares if share.value > 0)
        self.setAccessibleDescription(", ".join(f"{share.name} {self._percent(share)}" for share in self._shares))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(400), px(_BAR + UNIT + _WORDS))

    def _percent(self, share: Share) -> str:
        part = 100 * share.value / self._whole
        return f"{part:.1f} %" if part >= 0.05 else "< 0.1 %"

    @property
    def _whole(self) -> int:
        return max(1, sum(share.value for share in self._shares))

    def _boxes(self) -> list[QRectF]:
        boxes, x = [], 0.0
        for share in self._shares:
            width = share.value / self._whole * self.width()
            boxes.append(QRectF(x, 0, max(1.0, width - _GAP), px(_BAR)))
            x += width
        return boxes

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current()
        painter = QPainter(self)
        painter.setFont(text_font(11))
        metrics = painter.fontMetrics()
        for share, box in zip(self._shares, self._boxes(), strict=True):
            painter.fillRect(box, QColor(theme.families.get(share.family, theme.muted)))
            said = f"{share.name} {self._percent(share)}"
            if metrics.horizontalAdvance(said) <= box.width():
                painter.setPen(QColor(theme.muted))
                draw_text(painter, QRectF(box.x(), px(_BAR + UNIT), box.width(), px(_WORDS)), said)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            for share, box in zip(self._shares, self._boxes(), strict=True):
                if box.x() <= event.pos().x() < box.right() + _GAP:
                    QToolTip.showText(event.globalPos(), f"{share.name}: {share.value:,}, {self._percent(share)}", self)
                    return True
        return super().event(event)

    def _fit(self) -> None:
        self.setFixedHeight(px(_BAR + UNIT + _WORDS))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()
