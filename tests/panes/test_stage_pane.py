"""The stage pane: each operation opened, read, pointed at and clicked."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gptviz.app.appearance import Appearance
from gptviz.capture.stages import Stage, catalogue
from gptviz.model import TINY
from gptviz.panes.stage import StagePane
from gptviz.session.session import Session
from gptviz.widgets.matrix_view import MatrixView

STAGES = catalogue(TINY)
SIZES = {"B": 1, "T": 4, "E": 32, "H": 2, "D": 16, "F": 128, "V": 50257}


@pytest.fixture
def pane(ready: Session, appearance: Appearance, qtbot: QtBot) -> Iterator[StagePane]:
    """The pane after "Hello, I am" has run on the small model."""
    pane = StagePane(ready)
    pane.resize(640, 720)
    with qtbot.waitExposed(pane):
        pane.show()
    yield pane
    pane.close()
    pane.deleteLater()
    QCoreApplication.sendPostedEvents(pane, QEvent.Type.DeferredDelete.value)


def opens(pane: StagePane, name: str) -> None:
    pane.session.select_stage(name)
    QCoreApplication.processEvents()


def colours(widget: QWidget) -> int:
    image = widget.grab().toImage()
    return len({image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)})


def shown_shape(view: MatrixView) -> tuple[int, ...]:
    assert view.map.data is not None
    return view.map.data.values.shape


def hover(qtbot: QtBot, view: MatrixView, row: int, column: int) -> None:
    at = view.map.cell_box(row, column).center().toPoint()
    qtbot.mouseMove(view.map.viewport(), at - QPoint(1, 1))
    qtbot.mouseMove(view.map.viewport(), at)


# --- every stage -----------------------------------------------------------------------------------------


def shape_of(stage: Stage) -> tuple[int, ...]:
    return tuple(SIZES[letter] if letter in SIZES else int(letter) for letter in stage.dims)


def test_each_stage_shows_a_picture_with_its_shape(pane: StagePane) -> None:
    for stage in STAGES:
        opens(pane, stage.name)
        shape = shape_of(stage)

        assert f"output ({', '.join(map(str, shape))})" in pane.figures.text, stage.name
        if stage.name in ("ids", "next"):
            assert pane.figure.tokens_out.isVisible(), stage.name
            assert colours(pane.figure.tokens_out.strip) > 3, stage.name
        else:
            expected = shape[-2:] if stage.name != "last" else (1, 50257)
            assert shown_shape(pane.figure.output) == expected, stage.name
            assert colours(pane.figure.output.map) > 6, stage.name


def test_each_stage_has_words_formula_and_marked_code(pane: StagePane) -> None:
    headings = set()
    for stage in STAGES:
        opens(pane, stage.name)
        headings.add(pane.heading.text)

        assert pane.sentence.text(), stage.name
        assert f"({', '.join(map(str, shape_of(stage)))})" in pane.formula.accessibleDescription(), stage.name
        assert colours(pane.formula) > 4, stage.name
        assert len(pane.source.code.marked) > 0, stage.name
        assert pane.source.code.line_text(pane.source.code.marked.start).strip(), stage.name
    assert len(headings) == len(STAGES)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("embeddings", [(4, 32), (4, 32)]),
        ("trf_blocks.1.norm1", [(4, 32)]),
        ("trf_blocks.1.att.scores", [(4, 16), (4, 16)]),
        ("trf_blocks.1.att.context", [(4, 4), (4, 16)]),
        ("trf_blocks.1.shortcut2", [(4, 32), (4, 32)]),
        ("pos_emb", []),
        ("next", [(1, 50257)]),
    ],
)
def test_what_goes_in_is_shown_too(pane: StagePane, name: str, inputs: list[tuple[int, int]]) -> None:
    opens(pane, name)

    assert [shown_shape(view) for view in pane.figure.inputs if view.isVisible()] == inputs


def test_token_embeddings_are_made_of_the_ids(pane: StagePane) -> None:
    opens(pane, "tok_emb")

    assert pane.figure.tokens_in.isVisible()
    assert "15496" in pane.figure.tokens_in.strip.accessibleDescription()


def test_the_next_token_is_told_with_its_text(pane: StagePane) -> None:
    opens(pane, "next")
    assert pane.session.state.trace is not None
    token = int(pane.session.state.trace["next"])

    assert str(token) in pane.figure.tokens_out.strip.accessibleDescription()


# --- numbers ---------------------------------------------------------------------------------------------


def test_statistics_are_those_of_the_shown_head(pane: StagePane) -> None:
    opens(pane, "trf_blocks.0.att.masked")
    pane.session.select(head=1)
    assert pane.session.state.trace is not None
    finite = pane.session.state.trace["trf_blocks.0.att.masked"][0, 1]
    finite = finite[torch.isfinite(finite)]

    assert "measured head 2" in pane.figures.text
    assert f"min {float(finite.min()):.4g}".replace("-", "−") in pane.figures.text
    assert "−∞, left out 6" in pane.figures.text


def test_parameters_and_time_are_told(pane: StagePane) -> None:
    opens(pane, "trf_blocks.0.ff.layers.0")

    assert "parameters 4,224" in pane.figures.text
    assert " ms" in pane.figures.text


def test_pointing_tells_token_feature_and_exact_value(pane: StagePane, qtbot: QtBot) -> None:
    opens(pane, "trf_blocks.0.norm1")
    hover(qtbot, pane.figure.output, 2, 7)
    assert pane.session.state.trace is not None
    value = float(pane.session.state.trace["trf_blocks.0.norm1"][0, 2, 7])

    assert "token 2 ␣I" in pane.readout.text()
    assert "feature 7" in pane.readout.text()
    assert f"{abs(value):.6f}"[:7] in pane.readout.text()


def test_a_masked_cell_is_said_to_be(pane: StagePane, qtbot: QtBot) -> None:
    opens(pane, "trf_blocks.0.att.masked")
    hover(qtbot, pane.figure.output, 1, 3)

    assert pane.readout.text().endswith("−∞ (masked)")


# --- selecting -------------------------------------------------------------------------------------------


def test_a_click_selects_token_and_feature(pane: StagePane, qtbot: QtBot) -> None:
    opens(pane, "trf_blocks.0.norm1")
    view = pane.figure.output.map

    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.cell_box(1, 9).center().toPoint())

    assert (pane.session.state.selection.query, pane.session.state.selection.feature) == (1, 9)
    assert view.selected == (1, 9)


def test_a_click_on_a_square_map_selects_query_and_key(pane: StagePane, qtbot: QtBot) -> None:
    opens(pane, "trf_blocks.0.att.scores")
    view = pane.figure.output.map

    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.cell_box(3, 1).center().toPoint())

    assert (pane.session.state.selection.query, pane.session.state.selection.key) == (3, 1)


def test_a_click_on_the_keys_selects_a_key(pane: StagePane, qtbot: QtBot) -> None:
    opens(pane, "trf_blocks.0.att.scores")
    before, view = pane.session.state.query, pane.figure.inputs[1].map

    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.cell_box(1, 5).center().toPoint())

    selection = pane.session.state.selection
    assert (pane.session.state.query, selection.key, selection.feature) == (before, 1, 5)


def test_without_a_pass_there_is_a_hint(pane: StagePane) -> None:
    pane.session.change(trace=None)

    assert pane.hint.isVisible()
    assert not pane.area.isVisible()


# --- dropout and missing stages --------------------------------------------------------------------------


def test_dropout_is_compared_and_explained(pane: StagePane) -> None:
    opens(pane, "trf_blocks.0.drop_shortcut1")

    assert "The output equals the input" in pane.dropout.text()
    assert "probability 0.1" in pane.dropout.text()
    opens(pane, "trf_blocks.0.norm1")
    assert not pane.dropout.isVisible()


def test_a_stage_that_is_not_at_hand_has_a_note_and_no_colours(pane: StagePane) -> None:
    session = pane.session
    assert session.state.trace is not None
    kept = {name: tensor for name, tensor in session.state.trace.kept.items() if ".norm1" not in name}
    selection = replace(session.state.selection, stage="trf_blocks.1.norm1")
    session.change(trace=replace(session.state.trace, kept=kept), selection=selection)

    assert pane.figure.output.note.isVisible()
    assert "run again" in pane.figure.output.note.text()
    assert not pane.figure.output.map.isVisible()
    assert "min" not in pane.figures.text


def test_a_stage_that_has_not_run_is_said_to_be_missing(pane: StagePane) -> None:
    session = pane.session
    trace = session.state.trace
    assert trace is not None
    records = trace.records[:3]
    kept = {record.name: trace.kept[record.name] for record in records}
    selection = replace(session.state.selection, stage="final_norm")
    session.change(trace=replace(trace, records=records, kept=kept), selection=selection)

    assert "has not come to this stage" in pane.figure.output.note.text()


# --- looks -----------------------------------------------------------------------------------------------


def test_four_tokens_are_never_put_together_because_features_are_many(pane: StagePane) -> None:
    opens(pane, "out_head")

    rows, columns = pane.figure.output.map.pooled_cells
    assert rows == 1
    assert columns > 50
    assert pane.figure.output.rule_text == f"each dot: the strongest of {columns} token IDs"


@pytest.mark.parametrize("size", [(520, 330), (520, 520), (800, 600), (1000, 400), (1000, 800)])
def test_nothing_is_wider_than_the_pane(pane: StagePane, size: tuple[int, int]) -> None:
    pane.resize(*size)
    for name in ("trf_blocks.0.ff.layers.1", "trf_blocks.0.att.context", "trf_blocks.0.att.dropout"):
        opens(pane, name)
        body = pane.area.widget()
        assert body.width() <= pane.area.viewport().width()


def test_the_dark_look_redraws_it(pane: StagePane, appearance: Appearance) -> None:
    opens(pane, "trf_blocks.0.norm1")
    before = pane.grab().toImage()

    appearance.set_scheme("dark")
    QCoreApplication.processEvents()

    assert pane.grab().toImage() != before
