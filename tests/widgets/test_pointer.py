"""The frame around what the tour speaks of."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gptviz.widgets.pointer import Pointer


class Scene(QWidget):
    """A button in a scroll area in a window, and a pointer over it."""

    def __init__(self) -> None:
        super().__init__()
        self.button = QPushButton("Here")
        self.button.setFixedSize(80, 30)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.addSpacing(60)
        column.addWidget(self.button)
        column.addSpacing(600)
        self.area = QScrollArea()
        self.area.setWidget(inner)
        QVBoxLayout(self).addWidget(self.area)
        self.resize(300, 300)
        self.pointer = Pointer(self)

    @property
    def place(self) -> QRect:
        return QRect(self.button.mapTo(self, QPoint(0, 0)), self.button.size())


@pytest.fixture
def scene(qtbot: QtBot) -> Iterator[Scene]:
    scene = Scene()
    with qtbot.waitExposed(scene):
        scene.show()
    scene.pointer.point_at(lambda: (scene.button, scene.button.rect()))
    yield scene
    scene.close()
    scene.deleteLater()
    QCoreApplication.sendPostedEvents(scene, QEvent.Type.DeferredDelete.value)


def test_it_frames_its_target_closely(scene: Scene) -> None:
    assert scene.pointer.target.contains(scene.place)
    assert scene.pointer.target.width() - scene.place.width() <= 12


def test_it_lets_clicks_through(scene: Scene, qtbot: QtBot) -> None:
    on_screen = scene.place.center()
    assert scene.childAt(on_screen) is scene.button
    assert scene.pointer.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    assert scene.pointer.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_it_follows_when_the_target_moves_or_grows(scene: Scene, qtbot: QtBot) -> None:
    before = scene.pointer.target
    scene.area.verticalScrollBar().setValue(30)
    qtbot.waitUntil(lambda: scene.pointer.target == before.translated(0, -30))

    scene.button.setFixedSize(60, 24)
    qtbot.waitUntil(lambda: scene.pointer.target.size() == before.size() - QSize(20, 6))
    assert scene.pointer.target.contains(scene.place)


def test_it_hides_while_the_target_is_out_of_sight(scene: Scene, qtbot: QtBot) -> None:
    scene.area.verticalScrollBar().setValue(400)
    qtbot.waitUntil(lambda: not scene.pointer.isVisible())
    scene.area.verticalScrollBar().setValue(0)
    qtbot.waitUntil(scene.pointer.isVisible)

    scene.button.hide()
    qtbot.waitUntil(lambda: not scene.pointer.isVisible())
    scene.button.show()
    qtbot.waitUntil(scene.pointer.isVisible)

    scene.pointer.point_at(None)
    assert not scene.pointer.isVisible()


def test_it_frames_a_part_that_moves_inside_the_widget(scene: Scene, qtbot: QtBot) -> None:
    part = QRect(0, 0, 20, 20)
    scene.pointer.point_at(lambda: (scene.button, QRect(part)))
    before = scene.pointer.target

    part.translate(30, 0)
    scene.button.update()
    qtbot.waitUntil(lambda: scene.pointer.target == before.translated(30, 0))


def test_it_comes_to_another_window_with_its_target(scene: Scene, qtbot: QtBot) -> None:
    other = QWidget(scene, Qt.WindowType.Window)
    other.resize(300, 200)
    other.show()
    scene.button.setParent(other)
    scene.button.move(50, 50)
    scene.button.show()

    qtbot.waitUntil(lambda: scene.pointer.parentWidget() is other and scene.pointer.isVisible())
    assert scene.pointer.target.contains(QRect(50, 50, 80, 30))
