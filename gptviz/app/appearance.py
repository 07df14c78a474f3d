"""Light or dark, normal or lecture size: applied to the whole application."""

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from gptviz.app.style import palette, style_sheet
from gptviz.widgets.theme import DARK, LIGHT, Theme, current, load_fonts, text_font, use

LECTURE_SCALE = 1.5
_SCHEMES = {"system": Qt.ColorScheme.Unknown, "light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


class Appearance(QObject):
    """Knows what the person wants and what the system says; ``changed`` is emitted after each change."""

    changed = Signal()

    def __init__(self, app: QApplication, scheme: str = "system", lecture: bool = False) -> None:
        super().__init__(app)
        self._app = app
        self._scheme = scheme
        self._lecture = lecture
        app.setStyle("Fusion")
        load_fonts()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def scheme(self) -> str:
        """One of system, light, dark."""
        return self._scheme

    @property
    def lecture(self) -> bool:
        """Whether everything is drawn 1.5 times as large."""
        return self._lecture

    @property
    def theme(self) -> Theme:
        return current()

    def set_scheme(self, scheme: str) -> None:
        """Choose system, light or dark."""
        self._scheme = scheme
        self._apply()

    def set_lecture(self, lecture: bool) -> None:
        """Choose normal or lecture size."""
        self._lecture = lecture
        self._apply()

    def _wanted(self) -> Theme:
        if self._scheme != "system":
            return DARK if self._scheme == "dark" else LIGHT
        return DARK if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT

    def _apply(self) -> None:
        QGuiApplication.styleHints().setColorScheme(_SCHEMES[self._scheme])
        theme = self._wanted()
        use(theme, LECTURE_SCALE if self._lecture else 1.0)
        self._app.setPalette(palette(theme))
        self._app.setFont(text_font())
        sheet = style_sheet(theme)
        if sheet != self._app.styleSheet():  # the same one again would be read and applied to every widget anew
            self._app.setStyleSheet(sheet)
        self.changed.emit()

    @Slot()
    def _system_changed(self) -> None:
        if self._scheme == "system":
            self._apply()
