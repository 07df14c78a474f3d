"""A line below the prompt that offers the tour, at the first start alone."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from gptviz.app.settings import Settings
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.widgets.icons import icon
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.theme import UNIT

_TEXT = "New here? A guided tour goes through this model with your own prompt, step by step."


class TourOffer(QFrame):
    """Goes away for good when the tour is begun, or when it is dismissed; it comes up once."""

    def __init__(self, session: Session, settings: Settings | None) -> None:
        super().__init__()
        self.setObjectName("offer")
        label = plain_label("", _TEXT)
        self.begin = QPushButton("Begin the tour")
        self.begin.setToolTip("Begin the guided tour (F3)")
        self.begin.setAccessibleName("Begin the tour")
        self.begin.clicked.connect(session.tour.open)
        self.dismiss = QToolButton()
        self.dismiss.setObjectName("flat")
        self.dismiss.setToolTip("Not now; the Help menu has the tour (F3)")
        self.dismiss.setAccessibleName("Dismiss the offer of a tour")
        self.dismiss.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, UNIT, 2 * UNIT, UNIT)
        layout.setSpacing(3 * UNIT)
        layout.addWidget(label)
        layout.addWidget(self.begin)
        layout.addStretch()
        layout.addWidget(self.dismiss)
        session.changed.connect(self._state_changed)
        self.apply_theme()
        self.setVisible(settings is not None and not settings.tour_offered)
        if settings is not None:
            settings.tour_offered = True

    def apply_theme(self) -> None:
        """Draw the icon in the theme's colours."""
        self.dismiss.setIcon(icon("close"))

    def _state_changed(self, old: ViewState, new: ViewState) -> None:
        if new.tour.on:
            self.hide()
