"""A message across the window: what went wrong, why, and what to do."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton

from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT, current


class Banner(QFrame):
    """Hidden while there is no message."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("banner")
        self.mark = QLabel()
        self.label = plain_label("", wrap=True, selectable=True)
        self.dismiss = QToolButton()
        self.dismiss.setObjectName("flat")
        self.dismiss.setToolTip("Dismiss this message")
        self.dismiss.setAccessibleName("Dismiss the message")
        self.dismiss.clicked.connect(session.dismiss_message)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, UNIT, 2 * UNIT, UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addWidget(self.mark)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.dismiss)
        session.changed.connect(self._state_changed)
        self.apply_theme()
        self.hide()

    def apply_theme(self) -> None:
        """Draw the icons in the theme's colours."""
        self.mark.setPixmap(icon("warning", current().error).pixmap(16, 16))
        self.dismiss.setIcon(icon("close"))

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.message is not old.message:
            self.label.setText(str(new.message) if new.message is not None else "")
            self.setAccessibleName(self.label.text())
            self.setVisible(new.message is not None)
