"""The Arithmetic pane: how a number was made, and the way through its operands."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reading import painted_words

from gptviz.analysis.arithmetic import Place
from gptviz.app.appearance import Appearance
from gptviz.capture import catalogue
from gptviz.model import TINY
from gptviz.panes.arithmetic import ArithmeticPane
from gptviz.session.numbers import selected_place
from gptviz.session.session import Session
from gptviz.widgets.text import number

WEIGHT = Place("trf_blocks.0.att.weights", (0, 1, 3, 1))
SCORE = Place("trf_blocks.0.att.scores", (0, 1, 3, 1))


@pytest.fixture
def pane(ready: Session, appearance: Appearance, qtbot: QtBot) -> Iterator[ArithmeticPane]:
    """The pane, as wide as in the middle of a small window, on a weight of an attention head."""
    pane = ArithmeticPane(ready)
    pane.resize(526, 760)
    with qtbot.waitExposed(pane):
        pane.show()
    ready.go_to(WEIGHT)
    yield pane
    pane.close()
    pane.deleteLater()
    QCoreApplication.sendPostedEvents(pane, QEvent.Type.DeferredDelete.value)


def opens(pane: ArithmeticPane, name: str, *index: int) -> None:
    pane.session.go_to(Place(name, index))
    QCoreApplication.processEvents()


def clicks(qtbot: QtBot, widget: QWidget, at: QPointF) -> None:
    assert widget.isVisible()
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at.toPoint())


def here(pane: ArithmeticPane) -> Place | None:
    return selected_place(pane.session.state.selection, pane.session.state.trace)


def value(pane: ArithmeticPane, name: str, *index: int) -> float:
    assert pane.session.state.trace is not None
    return pane.session.state.trace[name][index].item()


# --- what is shown ---------------------------------------------------------------------------------------


def test_the_head_tells_the_number_and_where_it_is(pane: ArithmeticPane) -> None:
    assert pane.head.title == "Block 1 · attention · weights"
    assert pane.head.coordinates == "head 2, query 3 ␣am, key 1 ,"
    assert pane.head.value == number(value(pane, WEIGHT.name, *WEIGHT.index), 7)
    assert pane.head.verdict.startswith("✓ recomputed, difference ")


def test_a_weight_is_worked_out_in_four_lines(pane: ArithmeticPane) -> None:
    for name in ("largest score", "this key", "all keys", "its share"):
        assert f"{name}: " in pane.working.text
    assert pane.working.text.endswith(f"= {pane.head.value}")


def test_its_query_and_key_are_strips_with_their_product(pane: ArithmeticPane) -> None:
    rows = pane.charts.behind.strips.rows
    trace = pane.session.state.trace
    assert trace is not None
    query, key = (trace[f"trf_blocks.0.att.{name}"][0, 1, at] for name, at in (("queries", 3), ("keys", 1)))

    assert [row.label for row in rows] == ["query ␣am", "key ,", "product"]
    assert torch.equal(torch.tensor(rows[0].values), query)
    assert torch.equal(torch.tensor(rows[1].values), key)
    assert torch.allclose(torch.tensor(rows[2].values), query.double() * key.double())
    assert pane.charts.behind.title.text().endswith(number(value(pane, SCORE.name, *SCORE.index)))


def test_a_dot_product_has_bars_for_its_largest_terms_and_one_for_the_rest(pane: ArithmeticPane, qtbot: QtBot) -> None:
    opens(pane, "trf_blocks.0.ff.layers.2", 0, 3, 7)
    bars = pane.charts.bars
    rows = [bars.row(i) for i in range(bars.count)]

    assert [row.label for row in rows[8:]] == ["the other 120", "bias"]
    assert max(abs(row.fraction) for row in rows) == pytest.approx(1)
    assert all((row.fraction < 0) == row.value.startswith("−") for row in rows)
    assert painted_words(bars)[-1] == number(value(pane, "trf_blocks.0.ff.layers.2", 0, 3, 7), 5)
    qtbot.mouseClick(pane.charts.more, Qt.MouseButton.LeftButton)
    assert bars.count == 128 + 1
    qtbot.mouseClick(pane.charts.more, Qt.MouseButton.LeftButton)
    assert bars.count == 10


def test_pointing_at_a_strip_reads_its_column(pane: ArithmeticPane, qtbot: QtBot) -> None:
    opens(pane, SCORE.name, *SCORE.index)
    strips = pane.charts.strips
    at = strips.strips.cell_box(0, 5).center().toPoint()
    qtbot.mouseMove(strips.strips, at - QPoint(1, 1))
    qtbot.mouseMove(strips.strips, at)

    query = value(pane, "trf_blocks.0.att.queries", 0, 1, 3, 5)
    assert strips.readout.text().startswith(f"feature 5   query ␣am {number(query)}   key , ")


def test_every_stage_is_shown_with_a_verdict(pane: ArithmeticPane) -> None:
    for stage in catalogue(TINY):
        pane.session.select_stage(stage.name)
        assert pane.working.text
        expected = "given" if stage.name == "ids" else "✓ recomputed"
        assert pane.head.verdict.startswith(expected), stage.name
        assert pane.chips.chips or stage.name in ("ids",) or pane.charts.isVisible(), stage.name


def test_a_wrong_number_is_said_to_be_wrong_in_red(pane: ArithmeticPane) -> None:
    session, trace = pane.session, pane.session.state.trace
    assert trace is not None
    wrong = trace[WEIGHT.name].clone()
    wrong[WEIGHT.index] += 0.01
    before = pane.verdict.palette().windowText().color()

    session.change(trace=replace(trace, kept={**trace.kept, WEIGHT.name: wrong}))

    assert pane.head.verdict.startswith("✗ recomputed: 0.1836")
    assert "does not give the model's number" in pane.verdict.text()
    assert pane.verdict.palette().windowText().color() != before


def test_a_block_that_is_not_at_hand_is_waited_for(pane: ArithmeticPane, qtbot: QtBot) -> None:
    session, trace = pane.session, pane.session.state.trace
    assert trace is not None
    kept = {name: tensor for name, tensor in trace.kept.items() if ".att." not in name}

    session.change(trace=replace(trace, kept=kept))

    assert "being run again" in pane.sentence.text()
    assert pane.head.value == "…"
    assert not pane.working.isVisible()
    assert not pane.copy.isEnabled()
    session.change(trace=trace)
    qtbot.waitUntil(pane.working.isVisible)


def test_without_a_pass_there_is_a_hint(pane: ArithmeticPane) -> None:
    pane.session.change(trace=None)

    assert pane.hint.isVisible()
    assert not pane.area.isVisible()


def test_tokens_that_are_markup_are_text(pane: ArithmeticPane, qtbot: QtBot) -> None:
    pane.session.set_prompt("<b>x</b>")
    pane.session.run()
    qtbot.waitUntil(lambda: not pane.session.busy)
    opens(pane, "tok_emb", 0, 0, 1)

    assert "token 0 <" in pane.head.coordinates
    assert pane.sentence.textFormat() == Qt.TextFormat.PlainText


# --- walking ---------------------------------------------------------------------------------------------


def test_a_click_on_a_chip_goes_there_and_back_leads_back(pane: ArithmeticPane, qtbot: QtBot) -> None:
    clicks(qtbot, pane.chips, pane.chips.chip_box(0).center())
    assert here(pane) == Place("trf_blocks.0.att.masked", (0, 1, 3, 1))

    assert [crumb.text for crumb in pane.crumbs.crumbs] == ["weights ␣am → ,", "masked scores ␣am → ,"]
    qtbot.mouseClick(pane.back, Qt.MouseButton.LeftButton)
    assert here(pane) == WEIGHT
    qtbot.mouseClick(pane.forward, Qt.MouseButton.LeftButton)
    assert here(pane) == Place("trf_blocks.0.att.masked", (0, 1, 3, 1))


def test_a_click_on_a_crumb_goes_back_several_steps(pane: ArithmeticPane, qtbot: QtBot) -> None:
    for _ in range(3):
        clicks(qtbot, pane.chips, pane.chips.chip_box(0).center())
    assert here(pane) == SCORE

    pane.resize(900, 760)
    clicks(qtbot, pane.crumbs, pane.crumbs.crumb_box(1).center())

    assert here(pane) == Place("trf_blocks.0.att.masked", (0, 1, 3, 1))
    assert pane.forward.isEnabled()


def test_crumbs_without_room_are_behind_the_dots(pane: ArithmeticPane, qtbot: QtBot) -> None:
    for _ in range(3):
        clicks(qtbot, pane.chips, pane.chips.chip_box(0).center())
    assert pane.crumbs.crumb_box(0).isEmpty()

    clicks(qtbot, pane.crumbs, QPointF(4, 12))

    assert here(pane) != SCORE
    assert pane.crumbs.crumb_box(0).isEmpty() is False


def test_a_weight_of_the_model_is_an_end(pane: ArithmeticPane, qtbot: QtBot) -> None:
    opens(pane, "tok_emb", 0, 3, 7)
    assert [chip.link for chip in pane.chips.chips] == [True, False]

    clicks(qtbot, pane.chips, pane.chips.chip_box(1).center())

    assert here(pane) == Place("tok_emb", (0, 3, 7))


def test_strips_and_bars_lead_to_their_numbers(pane: ArithmeticPane, qtbot: QtBot) -> None:
    strips = pane.charts.behind.strips
    clicks(qtbot, strips, strips.cell_box(1, 5).center())
    assert here(pane) == Place("trf_blocks.0.att.keys", (0, 1, 1, 5))

    opens(pane, "trf_blocks.0.att.context", 0, 1, 3, 2)
    bars = pane.charts.bars
    label = bars.row(0).label
    clicks(qtbot, bars, bars.factor_box(0, 1).center())
    assert here(pane) == Place("trf_blocks.0.att.values", (0, 1, int(label.split()[0]), 2))


def test_all_of_it_can_be_done_with_keys(pane: ArithmeticPane, qtbot: QtBot) -> None:
    opens(pane, SCORE.name, *SCORE.index)
    term = pane.charts.bars.row(1)

    pane.charts.bars.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(pane.charts.bars, key)
    assert here(pane) == Place("trf_blocks.0.att.keys", (0, 1, 1, int(term.label)))

    pane.crumbs.setFocus()
    qtbot.keyClick(pane.crumbs, Qt.Key.Key_Left)
    qtbot.keyClick(pane.crumbs, Qt.Key.Key_Return)
    assert here(pane) == SCORE
    pane.session.go_to(Place("embeddings", (0, 3, 1)))
    qtbot.keyClick(pane.chips, Qt.Key.Key_Right)
    qtbot.keyClick(pane.chips, Qt.Key.Key_Return)
    assert here(pane) == Place("pos_emb", (3, 1))


def test_one_can_click_from_the_next_token_back_to_the_embedding_table(pane: ArithmeticPane, qtbot: QtBot) -> None:
    opens(pane, "next", 0, 0)
    steps = 0
    while here(pane).name != "tok_emb":
        before = here(pane)
        pane.resize(526, 1400)
        QCoreApplication.processEvents()
        links = [place for place, chip in enumerate(pane.chips.chips) if chip.link]
        if pane.chips.isVisible() and links:
            clicks(qtbot, pane.chips, pane.chips.chip_box(links[0]).center())
        else:
            clicks(qtbot, pane.charts.bars, pane.charts.bars.factor_box(0, 0).center())
        assert here(pane) != before
        steps += 1

    assert pane.chips.chips[-1].where.startswith("tok_emb.weight[")
    assert len(pane.crumbs.crumbs) == steps + 1


# --- copying ---------------------------------------------------------------------------------------------


def test_copy_as_pytorch_gives_a_program_that_prints_the_number(pane: ArithmeticPane, qtbot: QtBot) -> None:
    qtbot.mouseClick(pane.copy, Qt.MouseButton.LeftButton)

    assert pane.copy.text() == "Copied"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(QGuiApplication.clipboard().text(), {})
    recomputed, captured = map(float, out.getvalue().split())
    assert captured == value(pane, WEIGHT.name, *WEIGHT.index)
    assert recomputed == pytest.approx(captured, rel=1e-4)


# --- looks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(300, 200), (526, 309), (905, 463)])
def test_nothing_is_wider_than_the_pane(pane: ArithmeticPane, size: tuple[int, int], appearance: Appearance) -> None:
    pane.resize(*size)
    for lecture in (False, True):
        appearance.set_lecture(lecture)
        for stage in ("trf_blocks.0.norm1", "trf_blocks.0.att.weights", "trf_blocks.0.ff.layers.2", "next"):
            pane.session.select_stage(stage)
            QCoreApplication.processEvents()
            assert pane.area.widget().width() <= pane.area.viewport().width() or size[0] == 300


def test_the_dark_look_redraws_it(pane: ArithmeticPane, appearance: Appearance) -> None:
    before = pane.grab().toImage()

    appearance.set_scheme("dark")
    QCoreApplication.processEvents()

    assert pane.grab().toImage() != before
