"""A token that is typed, by its text or its ID, or picked from a list of likely ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenu

from gptviz.widgets.icons import icon
from gptviz.widgets.theme import mono_font, px

_LONGEST = 60  # characters: no token is longer that a person would type
_SHOWN = 16  # characters there is room for


@dataclass(frozen=True)
class TokenOption:
    """An entry of the list: ``token`` is its ID, or None for "whichever comes first"."""

    token: int | None
    text: str


class TokenChoice(QLineEdit):
    """Enter asks for what was typed; the button or ↓ opens the list."""

    picked = Signal(object)  # a token's ID, or None
    typed = Signal(str)

    def __init__(self, name: str, tip: str) -> None:
        super().__init__()
        self._options: Callable[[], Sequence[TokenOption]] = list
        self._shown = ""
        self.setAccessibleName(name)
        self.setToolTip(f"{tip}; ↓ lists the likeliest")
        self.setMaxLength(_LONGEST)
        self._list = QAction("List of likely tokens", self)
        self._list.triggered.connect(self._open)
        self.addAction(self._list, QLineEdit.ActionPosition.TrailingPosition)
        self.returnPressed.connect(self._returned)
        self.apply_theme()

    def set_options(self, options: Callable[[], Sequence[TokenOption]]) -> None:
        """Offer in the list what ``options`` returns when it is opened."""
        self._options = options

    def set_shown(self, text: str) -> None:
        """Show which token is in use, unless somebody is typing another one."""
        if text != self._shown or not self.isModified():
            self._shown = text
            self.setText(text)
            self.setCursorPosition(0)

    def reset(self) -> None:
        """Drop what was typed."""
        self.setText(self._shown)
        self.setCursorPosition(0)

    def apply_theme(self) -> None:
        """Draw in the theme's fonts and colours."""
        self._list.setIcon(icon("down"))
        self.setFont(mono_font(12))

    def sizeHint(self) -> QSize:
        width = QFontMetrics(mono_font(12)).horizontalAdvance("0" * _SHOWN)
        return QSize(width + px(44), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(px(96), super().minimumSizeHint().height())

    # --- inside ------------------------------------------------------------------------------------------

    def make_menu(self) -> QMenu:
        """Return the list as a menu."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for option in self._options():
            entry = menu.addAction(option.text.replace("&", "&&"))
            entry.setData(option)
        menu.triggered.connect(self._picked)
        return menu

    def _open(self) -> None:
        self.make_menu().popup(self.mapToGlobal(QPoint(0, self.height())))

    def _picked(self, entry: QAction) -> None:
        option = entry.data()
        self.setModified(False)
        self.picked.emit(option.token)

    def _returned(self) -> None:
        if self.isModified():
            self.typed.emit(self.text())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self._open()
        elif event.key() == Qt.Key.Key_Escape and self.isModified():
            self.reset()
            self.textEdited.emit(self.text())
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and hasattr(self, "_list"):
            self.apply_theme()
