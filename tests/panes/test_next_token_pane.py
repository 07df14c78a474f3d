"""The next token: a ranking over the whole vocabulary."""

import pytest
import torch
from panes_of import pane_of
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from reading import painted_words
from user import CONTROL, User

from gptviz.app.main_window import MainWindow
from gptviz.panes.next_token import NextTokenPane
from gptviz.tokenizer import gpt2_tokenizer
from gptviz.widgets.text import number, percent, visible
from gptviz.widgets.theme import LIGHT

pytestmark = pytest.mark.with_panes("next-token")


@pytest.fixture
def pane(window: MainWindow) -> NextTokenPane:
    return pane_of(window, NextTokenPane)


def expected(user: User, k: int) -> list[str]:
    assert user.state.trace is not None
    logits = user.state.trace["last"][0]
    best = torch.topk(logits, k)
    shares = torch.softmax(logits.double(), dim=0)[best.indices].tolist()
    words = []
    for token, logit, share in zip(best.indices.tolist(), best.values.tolist(), shares, strict=True):
        words += [visible(gpt2_tokenizer().token_text(token)), percent(share), number(logit)]
    return words


def rows(pane: NextTokenPane) -> list[str]:
    return [spoken.strip() for spoken in pane.bars.accessibleDescription().split(";")]


def type_count(user: User, pane: NextTokenPane, count: str) -> None:
    pane.count.spin.setFocus()
    user.presses(Qt.Key.Key_A, CONTROL)
    for digit in count:
        user.presses(Qt.Key(ord(digit)))
    user.presses(Qt.Key.Key_Return)


def test_the_likeliest_tokens_are_listed_with_probability_and_logit(pane: NextTokenPane, user: User) -> None:
    painted = "".join(painted_words(pane.bars))

    place = 0
    for word in expected(user, 5):
        found = painted.find(word, place)
        assert found >= place, f"{word} is missing or out of order in {painted}"
        place = found + len(word)


def test_bars_are_as_long_as_the_probability_beside_the_likeliest(pane: NextTokenPane, user: User) -> None:
    assert user.state.trace is not None
    shares = torch.softmax(user.state.trace["last"][0], dim=0).topk(10).values
    image, head = pane.bars.grab().toImage(), QColor(LIGHT.families["head"])

    def length(place: int) -> int:
        middle = 24 * (place + 1) + 12
        colours = (image.pixelColor(x, middle) for x in range(image.width()))
        return sum(abs(colour.hue() - head.hue()) < 6 and colour.saturation() > 30 for colour in colours)

    assert length(0) > 40
    for place in (1, 9):
        assert length(place) == pytest.approx(length(0) * float(shares[place] / shares[0]), abs=2)


def test_the_greedy_choice_stands_out(pane: NextTokenPane, user: User) -> None:
    assert pane.choice.text() == expected(user, 1)[0]


def test_ten_are_listed_at_first(pane: NextTokenPane) -> None:
    assert pane.count.spin.text() == "top 10"
    assert len(rows(pane)) == 10


def test_their_number_can_be_changed(pane: NextTokenPane, user: User) -> None:
    type_count(user, pane, "3")
    assert len(rows(pane)) == 3
    assert user.state.options.top_k == 3

    user.clicks(pane.count.more)
    assert len(rows(pane)) == 4


def test_their_number_never_exceeds_the_vocabulary(pane: NextTokenPane, user: User) -> None:
    type_count(user, pane, "50257")
    assert pane.count.value == 50257
    assert not pane.count.more.isEnabled()

    pane.count.spin.setFocus()
    user.presses(Qt.Key.Key_Up)
    assert user.state.options.top_k == 50257
    pane.bars.verticalScrollBar().setValue(pane.bars.verticalScrollBar().maximum())
    assert user.state.trace is not None
    least = int(user.state.trace["last"][0].argmin())
    assert visible(gpt2_tokenizer().token_text(least)) in "".join(painted_words(pane.bars))


def test_at_least_one_is_listed(pane: NextTokenPane, user: User) -> None:
    type_count(user, pane, "1")

    assert not pane.count.less.isEnabled()
    assert len(rows(pane)) == 1


def test_another_prompt_has_another_ranking(pane: NextTokenPane, user: User) -> None:
    before = rows(pane)

    user.runs("Every day")

    assert rows(pane) != before
    assert pane.choice.text() == expected(user, 1)[0]


def test_an_untrained_model_says_that_the_text_is_noise(pane: NextTokenPane) -> None:
    assert pane.note.text() == (
        "Random weights: the text is noise. Without any preference each token would have 0.00199 %."
    )


@pytest.mark.with_all_panes
def test_a_long_token_makes_the_pane_no_wider(pane: NextTokenPane, user: User) -> None:
    trace, long = user.state.trace, 38093  # a blank and 39 of "="
    assert trace is not None
    with torch.no_grad():
        head = trace.replay.model.get_parameter("out_head.weight")
        head.zero_()
        head[long] = trace["final_norm"][0, -1]
    user.window.resize(1280, 800)
    user.presses(Qt.Key.Key_Return, CONTROL)
    user.waits()

    text = visible(gpt2_tokenizer().token_text(long))
    assert pane.choice.text() == pane.choice.toolTip() == text
    assert pane.choice.painted.endswith("…")
    assert pane.parentWidget().width() >= pane.width()
