"""Single-colour icons, drawn in the colour of the text around them."""

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gptviz import resources
from gptviz.widgets.theme import current, px

_SIZE = 16  # px


def icon(name: str, tint: str | None = None) -> QIcon:
    """Return the icon ``resources/icons/<name>.svg`` in ``tint``, by default the text's colour."""
    return _icon(name, tint or current().text, current().muted, px(_SIZE))


@cache
def _icon(name: str, tint: str, disabled: str, side: int) -> QIcon:
    svg = resources.path("icons", f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for mode, tone in ((QIcon.Mode.Normal, tint), (QIcon.Mode.Disabled, disabled)):
        for density in (1, 2):
            faint = mode != QIcon.Mode.Normal
            result.addPixmap(_pixmap(svg.replace("currentColor", tone), side, density, faint), mode)
    return result


def _pixmap(svg: str, side: int, density: int, faint: bool) -> QPixmap:
    pixmap = QPixmap(QSize(side, side) * density)
    pixmap.setDevicePixelRatio(density)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setOpacity(0.5 if faint else 1.0)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap
