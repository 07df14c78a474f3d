"""Source code with line numbers and the lines that matter marked."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gptviz.widgets.python_highlighter import PythonHighlighter
from gptviz.widgets.text import draw_text
from gptviz.widgets.theme import MONO_FAMILY, UNIT, color, current, mono_font, px

_FONT_SIZE = 12  # px
_FEW_LINES, _MANY_LINES = 4, 12


class CodeView(QPlainTextEdit):
    """Read-only Python; text can be selected and copied."""

    def __init__(self, few_lines: int = _FEW_LINES, wrapped: bool = False) -> None:
        super().__init__()
        self._wrapped = wrapped
        self._first_line = 1
        self._marked = range(0)
        self._few_lines = few_lines
        self._family = "attention"
        self._look = ("", 0)
        self.setObjectName("code")
        self.setReadOnly(True)
        self.setFrameShape(self.Shape.NoFrame)
        self.setLineWrapMode(self.LineWrapMode.WidgetWidth if wrapped else self.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff if wrapped else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(UNIT)
        self._gutter = _Gutter(self)
        self._highlighter = PythonHighlighter(self.document())
        self.updateRequest.connect(self._gutter.follow)
        self.setAccessibleName("Source code")
        self._apply_theme()

    @property
    def marked(self) -> range:
        """The marked lines, numbered as in the file."""
        return self._marked

    def set_code(self, text: str, first_line: int, marked: range, family: str) -> None:
        """Show ``text``, whose first line is number ``first_line`` of its file, and mark lines of it."""
        changed = text != self.toPlainText() or first_line != self._first_line
        if not changed and marked == self._marked and family == self._family:
            return
        self._first_line, self._marked, self._family = first_line, marked, family
        if changed:
            self._highlighter.set_source(text)
            self.setPlainText(text)
            self._place_gutter()
            self.updateGeometry()
        self._fit_wrapped()
        self._mark()
        self._scroll_to_mark()

    def line_text(self, number: int) -> str:
        """Return a line by its number in the file."""
        return self.document().findBlockByNumber(number - self._first_line).text()

    def sizeHint(self) -> QSize:
        return QSize(px(320), self._height(self._few_lines))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(160), self._height(min(self._few_lines, 3)))

    @property
    def full_height(self) -> int:
        """The height that shows all lines, or many of them."""
        return self._height(min(_MANY_LINES, self.blockCount()))

    def gutter_width(self) -> int:
        """Return the room for the line numbers."""
        digits = len(str(self._first_line + self.blockCount() - 1))
        return round(QFontMetricsF(mono_font(11)).horizontalAdvance("0") * digits) + 5 * UNIT

    def paint_gutter(self, gutter: QWidget) -> None:
        """Draw the numbers of the lines in sight."""
        painter = QPainter(gutter)
        painter.setFont(mono_font(11))
        block = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > gutter.height():
                break
            number = self._first_line + block.blockNumber()
            if number in self._marked:
                painter.fillRect(QRectF(0, box.top(), gutter.width(), box.height()), self._mark_color())
                painter.fillRect(QRectF(0, box.top(), px(3), box.height()), color(current().families[self._family]))
            painter.setPen(color(current().text if number in self._marked else current().muted))
            place = QRectF(0, box.top(), gutter.width() - 2 * UNIT, box.height())
            draw_text(painter, place, str(number), Qt.AlignmentFlag.AlignRight)
            block = block.next()

    # --- inside ------------------------------------------------------------------------------------------

    def _height(self, lines: int) -> int:
        spacing = QFontMetricsF(mono_font(_FONT_SIZE)).lineSpacing()
        bar = 0 if self._wrapped else self.horizontalScrollBar().sizeHint().height()
        return round(lines * spacing + 2 * UNIT) + 2 + bar

    def _fit_wrapped(self) -> None:
        """Be as high as all lines are once they are broken."""
        if self._wrapped:
            self.setFixedHeight(self._height(max(1, int(self.document().size().height()))))

    def _mark_color(self) -> QColor:
        return color(current().families[self._family], 0.16)

    def _mark(self) -> None:
        selections = []
        for number in self._marked:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = QTextCursor(self.document().findBlockByNumber(number - self._first_line))
            selection.format.setBackground(self._mark_color())
            selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            selections.append(selection)
        self.setExtraSelections(selections)
        self._gutter.update()

    def _scroll_to_mark(self) -> None:
        """Bring the marked lines to the middle."""
        if len(self._marked):
            spacing = QFontMetricsF(mono_font(_FONT_SIZE)).lineSpacing()
            in_sight = max(1, int((self.viewport().height() - 2 * UNIT) / spacing))
            above = max(0, (in_sight - len(self._marked)) // 2)
            self.verticalScrollBar().setValue(max(0, self._marked.start - self._first_line - above))
        self.horizontalScrollBar().setValue(0)

    def _place_gutter(self) -> None:
        width = self.gutter_width()
        self.setViewportMargins(width, 0, 0, 0)
        area = self.contentsRect()
        self._gutter.setGeometry(area.left(), area.top(), width, area.height())

    def _apply_theme(self) -> None:
        self._look = (current().name, px(100))
        # the application's style sheet sets the font of every widget; only a sheet of its own beats that
        self.setStyleSheet(
            f'#code {{ font-family: "{MONO_FAMILY}"; font-size: {px(_FONT_SIZE)}px; border: none; padding: 0;'
            f" background: {current().panel}; }}"
            f" QAbstractScrollArea::corner {{ background: {current().panel}; border: none; }}"
        )
        self.setFont(mono_font(_FONT_SIZE))
        self._highlighter.rehighlight()
        self._place_gutter()
        self._fit_wrapped()
        self._mark()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_gutter()
        self._fit_wrapped()
        self._scroll_to_mark()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        kinds = (QEvent.Type.StyleChange, QEvent.Type.PaletteChange)
        if event.type() in kinds and hasattr(self, "_highlighter") and self._look != (current().name, px(100)):
            self._apply_theme()


class _Gutter(QWidget):
    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def follow(self, area: object, scrolled: int) -> None:
        if scrolled:
            self.scroll(0, scrolled)
        else:
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_gutter(self)
