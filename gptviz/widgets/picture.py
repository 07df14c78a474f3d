"""A widget as a picture: PNG with two pixels for each, or SVG whose texts and lines stay what they are."""

import math
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter, QRegion, QTransform
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from gptviz.widgets.theme import MONO_FAMILY, TEXT_FAMILY, color, current

DENSITY = 2  # pixels of a PNG for each px
_DOTS_A_METRE = round(96 * DENSITY / 0.0254)
_SHARPEST = 4096  # pixels of an enlarged image
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAMILIES = {  # what a program uses where the fonts are not installed
    TEXT_FAMILY: f"{TEXT_FAMILY}, 'Helvetica Neue', Arial, sans-serif",
    MONO_FAMILY: f"'{MONO_FAMILY}', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
}
_TOKEN = re.compile(
    r'transform="matrix\((?P<matrix>[^)]*)\)"'
    r'|<(?P<shape>path|polyline|polygon|rect) [^>]*?vector-effect="non-scaling-stroke"[^>]*?/>'
    r"|<image [^>]*?/>"
)
_PAIR = re.compile(r"(-?[\d.]+(?:e[-+]?\d+)?),(-?[\d.]+(?:e[-+]?\d+)?)")
_POINTS = re.compile(r'\b(?P<name>d|points)="(?P<points>[^"]*)"')
_RECT = re.compile(r'x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"')
_IMAGE = re.compile(
    r'width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"'
    r'[^>]*?xlink:href="data:image/png;base64,(?P<data>[^"]*)"'
)


def png_image(widget: QWidget) -> QImage:
    """Draw ``widget`` as an image of twice its size, whatever the screen has."""
    image = QImage(widget.size() * DENSITY, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(DENSITY)
    image.setDotsPerMeterX(_DOTS_A_METRE)
    image.setDotsPerMeterY(_DOTS_A_METRE)
    image.fill(color(current().panel))
    widget.render(image, QPoint())
    return image


def png_bytes(image: QImage) -> bytes:
    """Return ``image`` as PNG; needs no window, so that the worker can do it."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, b"png")
    if not writer.write(image):
        raise OSError(f"the picture can't be packed as PNG: {writer.errorString()}")
    return bytes(data.data())


@dataclass(frozen=True)
class Fragment:
    """What one widget drew itself, where it is in the whole, and which part of it is seen."""

    text: bytes
    place: tuple[int, int]
    seen: tuple[int, int, int, int]


@dataclass(frozen=True)
class Drawing:
    """What a widget and those inside it drew, from the back to the front."""

    size: tuple[int, int]
    ground: str
    fragments: tuple[Fragment, ...]


def drawing_of(widget: QWidget) -> Drawing:
    """Draw ``widget`` as SVG, in pieces: each widget inside on its own, as the generator knows no clip by parents."""
    fragments = []
    for part, seen in _seen_parts(widget, widget, QRect(QPoint(), widget.size())):
        place = part.mapTo(widget, QPoint())
        inside = seen.translated(-place)
        box = inside.x(), inside.y(), inside.width(), inside.height()
        fragments.append(Fragment(_drawn(part), (place.x(), place.y()), box))
    return Drawing((widget.width(), widget.height()), current().panel, tuple(fragments))


def svg_text(drawing: Drawing, title: str) -> str:
    """Put an SVG document together; needs no window, so that the worker can do it.

    What is an image on screen, such as a heatmap, is an image in it. Texts are texts, and lines are lines. A program
    that does not know clip paths draws more than is seen, but not the paths themselves: they are in definitions.
    """
    width, height = drawing.size
    out = StringIO()
    out.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f"<title>{_escaped(title)}</title>\n"
        f'<rect width="{width}" height="{height}" fill="{drawing.ground}"/>\n'
    )
    for number, fragment in enumerate(drawing.fragments):
        x, y, seen_width, seen_height = fragment.seen
        out.write(
            f'<defs><clipPath id="seen{number}"><rect x="{x}" y="{y}" width="{seen_width}" height="{seen_height}"/>'
            f'</clipPath></defs>\n<g transform="translate({fragment.place[0]},{fragment.place[1]})">'
            f'<g clip-path="url(#seen{number})">\n{_inside(fragment.text, number)}\n</g></g>\n'
        )
    out.write("</svg>\n")
    return out.getvalue()


def _seen_parts(widget: QWidget, root: QWidget, sight: QRect) -> Iterator[tuple[QWidget, QRect]]:
    """Yield the widget and those inside, from the back to the front, with the part of ``root`` where each is seen."""
    seen = sight & QRect(widget.mapTo(root, QPoint()), widget.size())
    if seen.isEmpty():
        return
    yield widget, seen
    for child in widget.children():
        if isinstance(child, QWidget) and not child.isWindow() and child.isVisibleTo(widget):
            yield from _seen_parts(child, root, seen)


def _drawn(widget: QWidget) -> bytes:
    """Return what ``widget`` draws itself, as an SVG document."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setSize(widget.size())
    generator.setViewBox(QRect(QPoint(), widget.size()))
    painter = QPainter(generator)
    QWidget.render(widget, painter, QPoint(), QRegion(), QWidget.RenderFlag(0))  # a graphics view has another one
    painter.end()
    return bytes(data.data())


def _inside(document: bytes, number: int) -> str:
    text = document.decode("utf-8", "replace")
    start, end = text.find("<defs>"), text.rfind("</svg>")
    return _with_families(_named_apart(_mended(_allowed(text[start:end])), number)) if start >= 0 else ""


def _allowed(text: str) -> str:
    """Leave out characters that XML does not have, and paths without a point."""
    return _FORBIDDEN.sub("�", text).replace('<path vector-effect="none" fill-rule="evenodd" d=""/>', "")


def _mended(text: str) -> str:
    """Enlarge images so that no program blurs their cells, and draw in px what is as thin at any scale.

    Many programs do not know strokes that are not scaled, nor patterns as fine as on screen.
    """
    parts, at, matrix = [], 0, QTransform()
    for found in _TOKEN.finditer(text):
        if found["matrix"] is not None:
            matrix = QTransform(*(float(number) for number in found["matrix"].split(",")))
            continue
        mended = _enlarged(found[0], matrix) if found["shape"] is None else _in_px(found[0], found["shape"], matrix)
        parts += [text[at : found.start()], mended]
        at = found.end()
    return "".join((*parts, text[at:]))


def _in_px(tag: str, shape: str, matrix: QTransform) -> str:
    """Return a shape with its points where ``matrix`` brings them, under the inverse of that."""
    inverse, possible = matrix.inverted()
    if matrix.type().value <= QTransform.TransformationType.TxTranslate.value or not possible:
        return tag
    if shape == "rect":
        x, y, width, height = (float(number) for number in _RECT.search(tag).groups())  # type: ignore[union-attr]
        corners = f"{x},{y} {x + width},{y} {x + width},{y + height} {x},{y + height}"
        tag = f'<polygon points="{corners}"/>'

    def moved(pair: re.Match[str]) -> str:
        point = matrix.map(QPointF(float(pair[1]), float(pair[2])))
        return f"{point.x():.6g},{point.y():.6g}"

    tag = _POINTS.sub(lambda found: f'{found["name"]}="{_PAIR.sub(moved, found["points"])}"', tag)
    numbers = (inverse.m11(), inverse.m12(), inverse.m21(), inverse.m22(), inverse.dx(), inverse.dy())
    placed = f'transform="matrix({",".join(f"{number:.9g}" for number in numbers)})"'
    return tag.replace('vector-effect="non-scaling-stroke" ', "").replace(" ", f" {placed} ", 1)


def _enlarged(tag: str, matrix: QTransform) -> str:
    found = _IMAGE.search(tag)
    if found is None:
        return tag
    image = QImage.fromData(QByteArray.fromBase64(found["data"].encode()))
    if image.isNull():
        return tag
    scale = math.hypot(matrix.m11(), matrix.m12()), math.hypot(matrix.m21(), matrix.m22())
    sizes = [
        _whole_times(pixels, float(found[side]) * factor * DENSITY)
        for pixels, side, factor in zip((image.width(), image.height()), ("width", "height"), scale, strict=True)
    ]
    larger = image.scaled(QSize(*sizes), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.FastTransformation)
    data = b64encode(png_bytes(larger)).decode()
    return tag[: found.start("data")] + data + tag[found.end("data") :]


def _whole_times(pixels: int, wanted: float) -> int:
    """Return the multiple of ``pixels`` that is nearest above ``wanted``, within reason."""
    times = max(1, -int(-wanted // pixels)) if wanted > pixels * DENSITY else 1
    return pixels * max(1, min(times, _SHARPEST // pixels))


def _named_apart(text: str, number: int) -> str:
    """Give the names inside a fragment a prefix, so that no two fragments share one."""
    text = re.sub(r'\bid="(\w+)"', rf'id="w{number}-\1"', text)
    text = re.sub(r"url\(#(\w+)\)", rf"url(#w{number}-\1)", text)
    return re.sub(r'xlink:href="#(\w+)"', rf'xlink:href="#w{number}-\1"', text)


def _with_families(text: str) -> str:
    for family, families in _FAMILIES.items():
        text = text.replace(f'font-family="{family}"', f'font-family="{families}"')
    return text


def _escaped(text: str) -> str:
    return "".join(
        {"&": "&amp;", "<": "&lt;", ">": "&gt;"}.get(letter, letter) for letter in text if letter.isprintable()
    )
