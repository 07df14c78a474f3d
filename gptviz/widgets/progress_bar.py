"""A thin bar that shows how far something has come."""

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gptviz.widgets.theme import color, current, px

_HEIGHT = 6  # px
_MOVING = 0.3  # the share of the bar that moves to and fro where the length is not known
_BEAT_MS = 50
_BEATS = 40  # from one end to the other and back


class ProgressBar(QWidget):
    """``set_share`` says how much is done. Qt's own bar paints the whole window, at once, at every step of it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._share: float | None = 0.0
        self._beat = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_BEAT_MS)
        self._timer.timeout.connect(self._move)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def share(self) -> float | None:
        """How much is done, from 0 to 1; None where the length is not known."""
        return self._share

    def set_share(self, share: float | None) -> None:
        """Show how much is done, from 0 to 1; None lets a part of the bar move."""
        if share != self._share:
            self._share = share
            self._describe()
            self._move_if_needed()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(96), px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(24), px(_HEIGHT))

    # --- inside ------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        self.setAccessibleDescription("under way" if self._share is None else f"{self._share:.0%}")

    def _move_if_needed(self) -> None:
        if self._share is not None or not self.isVisible():
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _move(self) -> None:
        self._beat = (self._beat + 1) % _BEATS
        self.update()

    # --- events ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        height = min(self.height(), px(_HEIGHT))
        whole = QRectF(0, (self.height() - height) / 2, self.width(), height)
        painter.setBrush(color(current().raised))
        painter.drawRoundedRect(whole, height / 2, height / 2)
        if self._share is None:
            way = abs(2 * self._beat / _BEATS - 1)  # from 1 to 0 and back
            part = QRectF(whole.width() * (1 - _MOVING) * way, whole.y(), whole.width() * _MOVING, height)
        else:
            part = QRectF(0, whole.y(), whole.width() * min(max(self._share, 0.0), 1.0), height)
        painter.setBrush(color(current().accent))
        if part.width() > 0:
            painter.setClipRect(whole)
            painter.drawRoundedRect(part, min(height, part.width()) / 2, height / 2)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._move_if_needed()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
