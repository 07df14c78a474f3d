"""Single-colour icons, drawn in the colour of the text around them."""

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gptviz import resources
from gptviz.widgets.theme import current, px

_SIZE = 16  # px


def icon(name: str, tint: str | None = None) -> QIcon:
    """Return the icon ``resources/icons/<name>.svg`` in ``tint``, by default the text's colour."""
    svg = resources.path("icons", f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for mode, tone in ((QIcon.Mode.Normal, tint or current().text), (QIcon.Mode.Disabled, current().muted)):
        for density in (1, 2):
            result.addPixmap(_pixmap(svg.replace("currentColor", tone), density, faint=mode != QIcon.Mode.Normal), mode)
    return result


def _pixmap(svg: str, density: int, faint: bool) -> QPixmap:
    side = px(_SIZE)
    pixmap = QPixmap(QSize(side, side) * density)
    pixmap.setDevicePixelRatio(density)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setOpacity(0.5 if faint else 1.0)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap
