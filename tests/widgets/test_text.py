"""How tokens and numbers are written."""

import math

import pytest
from PySide6.QtGui import Qt, QTextDocument

from gptviz.widgets.text import as_tip, data_size, number, percent, shape, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" I", "␣I"),
        ("\n\t\r", "⏎⇥␍"),
        ("\u00a0", "⍽"),
        ("a\u200bb", "a‹ZWSP›b"),
        ("👩\u200d👧", "👩‹ZWJ›👧"),
        ("\x00\x1b\x7f", "‹0000›‹001B›‹007F›"),
        ("\u202eabc\u202c", "‹202E›abc‹202C›"),
        ("\u200e\u200f\u2066\u2069\u061c", "‹200E›‹200F›‹2066›‹2069›‹061C›"),
        ("\ufeff", "‹FEFF›"),
        ("\u2028\u2029\u3000", "‹2028›‹2029›‹3000›"),
        ("naïve 漢字 🤗 שלום", "naïve␣漢字␣🤗␣שלום"),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
        ("", ""),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1.000"),
        (2.49722, "2.497"),
        (-2.49722, "−2.497"),
        (0.001234567, "0.001235"),
        (-0.0001234567, "−1.235e−4"),
        (123456.789, "123,457"),
        (12345678.9, "1.235e+7"),
        (1e-12, "1.000e−12"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "NaN"),
    ],
)
def test_a_number_is_written_with_four_places_and_a_true_minus(value: float, written: str) -> None:
    assert number(value) == written


@pytest.mark.parametrize(("digits", "written"), [(1, "3"), (2, "3.1"), (3, "3.14"), (6, "3.14159")])
def test_a_number_is_written_with_as_many_places_as_asked(digits: int, written: str) -> None:
    assert number(math.pi, digits) == written


@pytest.mark.parametrize(
    ("probability", "written"),
    [
        (0.000205462, "0.0205 %"),
        (1.0, "100 %"),
        (0.5, "50.0 %"),
        (0.05, "5.00 %"),
        (0.00123, "0.123 %"),
        (1 / 50257, "0.00199 %"),
        (0.00001, "0.00100 %"),
        (1e-6, "1.0e−4 %"),
        (1e-12, "1.0e−10 %"),
        (0.0, "0 %"),
    ],
)
def test_a_probability_is_written_in_per_cent_with_three_places(probability: float, written: str) -> None:
    assert percent(probability) == written


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_900, "99.9 kB"),
        (123_456, "123 kB"),
        (2_100_000, "2.1 MB"),
        (536_870_912, "537 MB"),
        (1_234_567_890, "1.23 GB"),
        (99_999_999_999, "100.00 GB"),
    ],
)
def test_a_size_is_written_in_the_unit_that_fits(count: int, written: str) -> None:
    assert data_size(count) == written


def test_a_shape_is_written_as_torch_does() -> None:
    assert shape((1, 4, 768)) == "(1, 4, 768)"
    assert shape((4,)) == "(4)"


@pytest.mark.parametrize(
    "text", ["step 3: <s> · ID 2", "<b>Ann</b>", "a &lt; b", "<|endoftext|>", "two\nlines <i>", "plain"]
)
def test_a_tooltip_shows_a_text_as_it_stands(text: str) -> None:
    tip, document = as_tip(text), QTextDocument()
    if Qt.mightBeRichText(tip):
        document.setHtml(tip)
    else:
        document.setPlainText(tip)

    assert document.toPlainText() == text
