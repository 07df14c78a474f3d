"""What is remembered from one start to the next."""

from PySide6.QtCore import QByteArray, QSettings

_VERSION = 2  # of the layout: one saved by another version is not restored


class Settings:
    """A few typed values in QSettings, which itself returns strings."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = QSettings("gptviz", "gptviz") if store is None else store

    @property
    def colour_scheme(self) -> str:
        """One of system, light, dark."""
        value = str(self._store.value("look/scheme", "system"))
        return value if value in ("system", "light", "dark") else "system"

    @colour_scheme.setter
    def colour_scheme(self, value: str) -> None:
        self._store.setValue("look/scheme", value)

    @property
    def lecture_size(self) -> bool:
        return str(self._store.value("look/lecture", "false")) == "true"

    @lecture_size.setter
    def lecture_size(self, value: bool) -> None:
        self._store.setValue("look/lecture", "true" if value else "false")

    @property
    def recent(self) -> str:
        """The checkpoints that were opened last, as ``Recent`` writes them."""
        return str(self._store.value("recent", "[]"))

    @recent.setter
    def recent(self, value: str) -> None:
        self._store.setValue("recent", value)

    @property
    def predict_first(self) -> bool:
        """Whether tour and labs ask before they show."""
        return str(self._store.value("tour/predict", "false")) == "true"

    @predict_first.setter
    def predict_first(self, value: bool) -> None:
        self._store.setValue("tour/predict", "true" if value else "false")

    @property
    def tour_place(self) -> int:
        """The step at which the tour was left."""
        value = str(self._store.value("tour/place", "0"))
        return int(value) if value.isdecimal() else 0

    @tour_place.setter
    def tour_place(self, value: int) -> None:
        self._store.setValue("tour/place", str(value))

    @property
    def tour_offered(self) -> bool:
        """Whether the tour was offered before."""
        return str(self._store.value("tour/offered", "false")) == "true"

    @tour_offered.setter
    def tour_offered(self, value: bool) -> None:
        self._store.setValue("tour/offered", "true" if value else "false")

    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Return the saved geometry and dock state; None if there is none of this version."""
        if str(self._store.value("layout/version", "")) != str(_VERSION):
            return None
        geometry, state = self._store.value("layout/geometry"), self._store.value("layout/state")
        if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
            return geometry, state
        return None

    def save_layout(self, geometry: QByteArray, state: QByteArray) -> None:
        self._store.setValue("layout/version", str(_VERSION))
        self._store.setValue("layout/geometry", geometry)
        self._store.setValue("layout/state", state)
