"""Source code: numbers, marks and colours."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from reading import painted_words

from gptviz.app.appearance import Appearance
from gptviz.widgets.code_view import CodeView
from gptviz.widgets.python_highlighter import spans
from gptviz.widgets.source_view import ShownCode, SourceView
from gptviz.widgets.theme import DARK, LIGHT

CODE = '''def forward(self, x: Tensor) -> Tensor:
    """Say what it does."""
    mean = x.mean(dim=-1)  # (B, T)
    y = x - mean
    return y / 2'''


@pytest.fixture
def view(show: Callable[..., None]) -> CodeView:
    view = CodeView()
    view.set_code(CODE, 21, range(24, 25), "norm")
    show(view, 500, 200)
    return view


def colour_at(view: CodeView, line: int, column: int) -> str:
    block = view.document().findBlockByNumber(line - 21)
    found = [part for part in block.layout().formats() if part.start <= column < part.start + part.length]
    return found[0].format.foreground().color().name().upper() if found else ""  # type: ignore[attr-defined]


def test_lines_are_numbered_as_in_the_file(view: CodeView) -> None:
    gutter = next(child for child in view.children() if type(child).__name__ == "_Gutter")
    assert isinstance(gutter, QWidget)

    assert painted_words(gutter) == ["21", "22", "23", "24", "25"]
    assert view.line_text(24) == "    y = x - mean"


def test_the_marked_line_has_another_ground(view: CodeView, picture: Callable[[QWidget], QImage]) -> None:
    image = picture(view.viewport())
    spacing = view.cursorRect(view.textCursor()).height()
    right = image.width() - 4
    grounds = [image.pixelColor(right, int(5 + spacing * (line + 0.5))).name().upper() for line in range(5)]

    assert [ground == LIGHT.panel for ground in grounds] == [True, True, True, False, True]
    assert view.marked == range(24, 25)


@pytest.mark.parametrize(
    ("line", "column", "family"),
    [(21, 0, "attention"), (21, 4, "embedding"), (22, 6, "feed-forward"), (25, 15, "head")],
)
def test_words_have_the_colours_of_what_they_are(view: CodeView, line: int, column: int, family: str) -> None:
    assert colour_at(view, line, column) == LIGHT.families[family]


def test_comments_stand_back_and_names_are_plain(view: CodeView) -> None:
    assert colour_at(view, 23, 30) == LIGHT.muted
    assert colour_at(view, 24, 4) == ""


def test_the_dark_look_has_its_own_colours(view: CodeView, appearance: Appearance) -> None:
    appearance.set_scheme("dark")

    assert colour_at(view, 21, 0) == DARK.families["attention"]


def test_a_mark_out_of_sight_is_scrolled_to(show: Callable[..., None]) -> None:
    view = CodeView()
    view.set_code("\n".join(f"line_{number} = {number}" for number in range(200)), 1, range(150, 151), "norm")
    show(view, 400, 120)

    assert "150" in painted_words(next(child for child in view.children() if type(child).__name__ == "_Gutter"))  # type: ignore[arg-type]


def test_text_can_be_selected_but_not_changed(view: CodeView) -> None:
    QTest.keyClick(view, Qt.Key.Key_X)

    assert view.toPlainText() == CODE
    view.selectAll()
    assert view.textCursor().hasSelection()


def test_a_broken_piece_of_code_is_coloured_as_far_as_it_goes() -> None:
    assert ("keyword" in {kind for *_, kind in spans("return (1 +")}) is True


def test_operation_and_caller_are_shown_with_their_places(show: Callable[..., None]) -> None:
    source = SourceView()
    show(source, 500, 300)
    code = ShownCode("LayerNorm.forward", "gptviz/model/layers.py:24", CODE, 21, range(24, 25))
    caller = ShownCode(
        "Called in TransformerBlock.forward", "gptviz/model/gpt.py:31", "x = self.norm1(x)", 31, range(0)
    )

    source.show_code(code, caller, "norm")
    assert source.captions == (
        "LayerNorm.forward gptviz/model/layers.py:24",
        "Called in TransformerBlock.forward gptviz/model/gpt.py:31",
    )
    assert source.caller.toPlainText() == "x = self.norm1(x)"

    source.show_code(code, None, "norm")
    assert not source.caller.isVisible()

    source.show_code(None, None, "norm")
    assert "can't be read" in source.captions[0]
