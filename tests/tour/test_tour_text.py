"""The language of the tour: a little Markdown with placeholders."""

import pytest

from gptviz.tour.text import NotYetError, Style, TourTextError, fill, names, parse, words

VALUES = {"count": 3, "yes": True, "no": False, "token": "**<b>`{count}`"}


def value(name: str) -> object:
    if name == "later":
        raise NotYetError("pass")
    return VALUES[name]


def filled(source: str) -> list[str | None]:
    return [block.need or block.text for block in fill(parse(source), value, str)]


def test_paragraphs_are_parted_by_empty_lines_and_items_begin_with_a_dash() -> None:
    paragraphs = parse("One\nand the same.\n\nTwo.\n- three\n- four\n")

    assert ["".join(words((p,))) for p in paragraphs] == ["One and the same.", "Two.", "three", "four"]
    assert [p.item for p in paragraphs] == [False, False, True, True]


def test_words_values_and_code_have_their_styles() -> None:
    (block,) = fill(parse("So **bold** and `code` and {count}."), value, str)

    assert [(span.text, span.style) for span in block.spans] == [
        ("So ", Style.PLAIN),
        ("bold", Style.BOLD),
        (" and ", Style.PLAIN),
        ("code", Style.CODE),
        (" and ", Style.PLAIN),
        ("3", Style.VALUE),
        (".", Style.PLAIN),
    ]


def test_a_value_is_never_read_as_markup() -> None:
    (block,) = fill(parse("The token {token}."), value, str)

    assert [span.text for span in block.spans] == ["The token ", "**<b>`{count}`", "."]
    assert block.spans[1].style == Style.VALUE


def test_a_value_decides_between_two_wordings() -> None:
    assert filled("A {if yes}dog{else}cat{end}.") == ["A dog."]
    assert filled("A {if no}dog{else}cat{end}.") == ["A cat."]
    assert filled("A{if no} dog{end}.") == ["A."]
    assert filled("{if yes}{if no}a{else}b {count}{end}{else}c{end}") == ["b 3"]


def test_a_paragraph_without_words_is_left_out() -> None:
    assert filled("First.\n\n{if no}Never.{end}\n\nLast.") == ["First.", "Last."]


def test_a_paragraph_says_what_its_value_lacks_and_the_others_stay() -> None:
    blocks = fill(parse("Here.\n\nLater {later}.\n\n{if later}a{else}b{end}"), value, str)

    assert [(block.text, block.need) for block in blocks] == [("Here.", None), ("", "pass"), ("", "pass")]


def test_all_names_are_listed_also_those_of_the_other_wording() -> None:
    assert names(parse("{count} {if yes}{token}{else}{later}{end}")) == ("count", "yes", "token", "later")


@pytest.mark.parametrize(
    "source", ["**open", "`open", "{if yes}open", "{else}", "a {end}", "{}", "{if yes}a{else}b{else}c{end}"]
)
def test_a_mark_that_is_not_closed_is_refused(source: str) -> None:
    with pytest.raises(TourTextError):
        parse(source)
