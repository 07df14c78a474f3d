"""A pane in a frame that can be moved, closed and brought back."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QDockWidget, QFrame, QHBoxLayout, QLabel, QMainWindow, QScrollArea, QToolButton

from gptviz.panes import PaneEntry
from gptviz.panes.pane import Pane
from gptviz.session.session import Session
from gptviz.widgets.icons import icon
from gptviz.widgets.theme import UNIT, px


class PaneDock(QDockWidget):
    """Its title bar gives way to the tab when several docks share a place."""

    pane_wanted = Signal(str)

    def __init__(self, kind: PaneEntry, session: Session, window: QMainWindow) -> None:
        super().__init__(kind.title, window)
        self._kind = kind
        self.name = kind.name
        self._session = session
        self._pane: Pane | None = None
        self._in_sight = False
        self.setObjectName(f"dock-{kind.name}")
        self._body = _Body()  # a pane in too small a place scrolls, and never makes the window larger
        self._body.setObjectName("paneBody")
        self._body.setFrameShape(QFrame.Shape.NoFrame)
        self._body.setWidgetResizable(True)
        self._body.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus
        self.setWidget(self._body)
        self._title = _Title(self)
        self.setTitleBarWidget(self._title)
        self._body.painted_empty.connect(self._body_painted)
        self.visibilityChanged.connect(self._visibility_changed)

    @property
    def pane(self) -> Pane:
        """The pane, made when it is first needed: a start must not wait for panes behind other tabs."""
        if self._pane is None:
            self._pane = self._kind(self._session)
            self._pane.pane_wanted.connect(self.pane_wanted)
            self._body.setWidget(self._pane)
        return self._pane

    @property
    def has_table(self) -> bool:
        """Whether the pane can be saved as CSV."""
        return self._kind.has_table

    @property
    def shown_stage(self) -> str | None:
        """The stage whose numbers the pane shows, of which a table can be had if the pane has none."""
        return self._session.state.selection.stage if self._pane is None else self._pane.shown_stage

    @property
    def is_in_sight(self) -> bool:
        """Whether the pane is shown, and not behind another tab."""
        return self._in_sight

    @Slot(bool)
    def _visibility_changed(self, visible: bool) -> None:
        self._in_sight = visible
        if self._pane is not None:
            self._pane.set_in_sight(visible)

    @Slot()
    def _body_painted(self) -> None:
        QTimer.singleShot(0, self, self._make)  # when the whole window is painted

    @Slot()
    def _make(self) -> None:
        if self._in_sight:
            self.pane.set_in_sight(True)

    def apply_theme(self) -> None:
        """Draw the icons in the theme's colours."""
        self._title.apply_theme()

    def show_title(self, shown: bool) -> None:
        """Show the title bar, or leave naming to the tab."""
        self._title.set_shown(shown)


class _Body(QScrollArea):
    """Tells when it was painted without a pane: making one must not keep the window from being there."""

    painted_empty = Signal()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.widget() is None:
            self.painted_empty.emit()


class _Title(QFrame):
    def __init__(self, dock: PaneDock) -> None:
        super().__init__()
        self.setObjectName("dockTitle")
        self._shown = True
        self._size = QSize()  # asked for at each change of any layout
        label = QLabel(dock.windowTitle())
        self._float = self._button("Detach this pane, or put it back", dock)
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._close = self._button("Close this pane; the View menu brings it back", dock)
        self._close.clicked.connect(dock.close)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 0, UNIT, 0)
        layout.setSpacing(0)
        layout.addWidget(label, 1)
        layout.addWidget(self._float)
        layout.addWidget(self._close)
        self.apply_theme()

    def _button(self, tip: str, dock: PaneDock) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(tip)
        button.setAccessibleName(f"{dock.windowTitle()}: {tip}")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def apply_theme(self) -> None:
        self._size = QSize(px(80), px(34))
        self._float.setIcon(icon("float"))
        self._close.setIcon(icon("close"))
        for button in (self._float, self._close):
            button.setIconSize(QSize(px(12), px(12)))

    def set_shown(self, shown: bool) -> None:
        self._shown = shown
        self.setMaximumHeight(16777215 if shown else 0)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return self._size if self._shown else QSize(0, 0)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
