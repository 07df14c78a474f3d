"""The map of scores and the ranking beside it, as they are painted."""

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.widgets import colormaps
from gptviz.widgets.head_ranking import HeadRanking, RankedHead
from gptviz.widgets.score_map import ScoreMap
from gptviz.widgets.theme import LIGHT

Show = Callable[..., None]
Picture = Callable[[QWidget], QImage]
VALUES = np.array([[0.0, 0.5, 1.0], [0.25, np.nan, 0.75]])


def test_each_cell_has_its_value_s_colour(show: Show, picture: Picture) -> None:
    scores = ScoreMap()
    scores.set_values(VALUES, 0.0, 1.0)
    show(scores)

    image, table = picture(scores), colormaps.sequential()
    for layer, head in ((0, 1), (0, 2), (1, 0), (1, 2)):
        index = colormaps.indices(VALUES[layer : layer + 1, head], 0.0, 1.0)[0]
        assert image.pixelColor(scores.cell_box(layer, head).center().toPoint()) == QColor(*table[index].tolist())


def test_a_head_without_a_score_has_no_colour_of_a_number(show: Show, picture: Picture) -> None:
    scores = ScoreMap()
    scores.set_values(VALUES, 0.0, 1.0)
    show(scores)

    image, box = picture(scores), scores.cell_box(1, 1).toRect().adjusted(2, 2, -2, -2)
    seen = {
        image.pixelColor(x, y).name() for x in range(box.left(), box.right()) for y in range(box.top(), box.bottom())
    }
    assert len(seen) > 1  # hatched
    assert scores.written(1, 1) == "block 2, head 2: no score"


def test_rows_are_layers_and_columns_are_heads(show: Show) -> None:
    scores = ScoreMap()
    scores.set_values(VALUES, 0.0, 1.0)
    show(scores)

    assert scores.cell_box(1, 0).top() > scores.cell_box(0, 0).bottom()
    assert scores.cell_box(0, 1).left() > scores.cell_box(0, 0).right()
    assert painted_words(scores) == ["1", "2", "1", "2", "3"]


def ranking_of(count: int) -> HeadRanking:
    ranking = HeadRanking()
    ranking.set_rows(
        [RankedHead(0, head, 1 - head / count, f"{head}.0") for head in range(count)], (0.5, "uniform: 0.5")
    )
    return ranking


def bar_length(image: QImage, middle: int) -> int:
    hue = QColor(LIGHT.families["attention"]).hue()
    colours = (image.pixelColor(x, middle) for x in range(image.width()))
    return sum(abs(colour.hue() - hue) < 6 and colour.saturation() > 100 for colour in colours)


def test_bars_are_as_long_as_their_share_and_the_line_stands_at_its_own(show: Show, picture: Picture) -> None:
    ranking = ranking_of(4)
    show(ranking)

    image = picture(ranking.viewport())
    lengths = [bar_length(image, round(ranking.row_box(place).center().y())) for place in range(4)]
    assert lengths[0] > 100
    for length, share in zip(lengths, (1, 0.75, 0.5, 0.25), strict=True):
        assert abs(length - share * lengths[0]) < 5
    assert "uniform: 0.5" in painted_words(ranking)


def test_a_long_ranking_scrolls_to_the_chosen_head(show: Show) -> None:
    ranking = ranking_of(144)
    show(ranking)
    ranking.set_selected(0, 100)

    assert 0 < ranking.row_box(100).top() < ranking.viewport().height()


def test_keys_choose_the_next_in_rank(show: Show, qtbot: QtBot) -> None:
    ranking = ranking_of(5)
    show(ranking)
    chosen: list[tuple[int, int]] = []
    ranking.chosen.connect(lambda layer, head: chosen.append((layer, head)))
    qtbot.keyClick(ranking, Qt.Key.Key_Down)
    qtbot.keyClick(ranking, Qt.Key.Key_Down)
    qtbot.keyClick(ranking, Qt.Key.Key_Up)

    assert chosen == [(0, 1), (0, 2), (0, 1)]


def test_a_click_beside_the_rows_chooses_nothing(show: Show, qtbot: QtBot) -> None:
    ranking = ranking_of(2)
    show(ranking)
    with qtbot.assertNotEmitted(ranking.chosen):
        qtbot.mouseClick(ranking.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 5))
        qtbot.mouseClick(ranking.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 250))
