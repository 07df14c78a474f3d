"""Text to be read at leisure."""

from collections.abc import Callable

from PySide6.QtGui import QImage
from reading import painted_words

from gptviz.widgets.reading import Reading, Run

Show = Callable[..., None]


def test_markup_in_a_value_stays_as_it_is(show: Show) -> None:
    reading = Reading()
    reading.set_paragraphs([(False, [Run("A ", "plain"), Run("<b>&amp;", "value")])])
    show(reading)

    assert reading.text == "A <b>&amp;"
    assert "<b>&amp;" in painted_words(reading)
    assert reading.accessibleDescription() == reading.text


def test_it_is_higher_where_it_is_narrower(show: Show) -> None:
    reading = Reading()
    reading.set_paragraphs([(False, [Run("Some words that need several lines. " * 5, "plain")])])

    show(reading)
    assert reading.heightForWidth(200) > reading.heightForWidth(400) > 20


def test_a_live_value_stands_on_a_tint(show: Show) -> None:
    def colour(style: str) -> int:
        reading = Reading()
        reading.set_paragraphs([(False, [Run("MMM", style)])])
        show(reading)
        image = reading.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        return image.pixel(2, 3)

    assert colour("value") != colour("code")
