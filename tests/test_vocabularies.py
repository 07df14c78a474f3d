"""Vocabularies other than GPT-2's: padded ones, tables of tokens, bare IDs."""

from pathlib import Path

import pytest

from gptviz.token_table import TableError, read_table
from gptviz.tokenizer import TextError, Tokenizer, gpt2_tokenizer, tokenizer_for

# --- padding ---------------------------------------------------------------------------------------------


def test_gpt2s_size_has_gpt2s_tokenizer() -> None:
    assert tokenizer_for(50257) is gpt2_tokenizer()


def test_rows_beyond_gpt2s_tokens_are_unused_and_say_so() -> None:
    padded = tokenizer_for(50304)

    assert padded.token_text(50260) == "‹unused 50260›"
    assert padded.token_text(50256) == "<|endoftext|>"
    assert padded.encode("Hello, I am") == [15496, 11, 314, 716]
    assert padded.decode([15496, 50260, 11]) == "Hello‹unused 50260›,"
    assert gpt2_tokenizer().vocab_size == 50257


def test_an_unused_token_parts_the_bytes_of_a_character() -> None:
    pieces = tokenizer_for(50304).pieces([8582, 50300, 97, 245])

    assert [piece.text for piece in pieces] == ["‹F0·9F›", "‹unused 50300›", "‹A4›", "‹97›"]
    assert [piece.group for piece in pieces] == [0, 1, 2, 3]
    assert pieces[1].bytes == b""


# --- bare IDs --------------------------------------------------------------------------------------------


@pytest.fixture
def bare() -> Tokenizer:
    return tokenizer_for(65)


@pytest.mark.parametrize("text", ["0 1 64", "0,1,64", " 0, 1\n64 ", "00 01 064"])
def test_bare_ids_are_read_with_spaces_or_commas(bare: Tokenizer, text: str) -> None:
    assert bare.encode(text) == [0, 1, 64]


def test_leading_zeros_do_not_hide_an_id_that_the_vocabulary_lacks(bare: Tokenizer) -> None:
    assert bare.encode("0007 " + "0" * 5000) == [7, 0]
    with pytest.raises(TextError, match="is no token ID"):
        bare.encode("0" * 12 + "65")


def test_the_example_is_one_that_a_vocabulary_of_two_has() -> None:
    with pytest.raises(TextError, match=r"from 0 to 1, such as 0 1$"):
        tokenizer_for(2).encode("Hello")


def test_bare_ids_are_written_as_numbers(bare: Tokenizer) -> None:
    assert bare.decode([0, 1, 64]) == "0 1 64"
    assert bare.token_text(64) == "64"
    assert [(piece.text, piece.bytes) for piece in bare.pieces([7, 3])] == [("7", b""), ("3", b"")]
    assert bare.encode("") == []


@pytest.mark.parametrize("word", ["Hello", "65", "-1", "1.5", "٣", "9" * 5000])
def test_what_is_no_id_is_refused_and_an_example_is_given(bare: Tokenizer, word: str) -> None:
    with pytest.raises(TextError, match="a row of IDs from 0 to 64, such as 0 1 2"):
        bare.encode(f"3 {word}")


# --- tables ----------------------------------------------------------------------------------------------


def test_a_table_gives_each_line_the_id_of_its_place(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("\\n\n \na\nb\n", newline="")
    table = tokenizer_for(4, read_table(tmp_path / "table.txt", 4))

    assert table.encode("ab a\n") == [2, 3, 1, 2, 0]
    assert table.decode([2, 3, 1, 2, 0]) == "ab a\n"
    assert [piece.text for piece in table.pieces([0, 2])] == ["\n", "a"]


def test_the_longest_token_wins(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("a\nab\nabc\nb\nc\n")
    table = tokenizer_for(5, read_table(tmp_path / "table.txt", 5))

    assert table.encode("abcabbac") == [2, 1, 3, 0, 4]


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        (b"\n\n \na\n", ("\n", " ", "a")),  # the line break as it is: two lines
        (b"\n \na\n", ("\n", " ", "a")),
        (b"\n \na", ("\n", " ", "a")),
        (b"\\n\n\na", ("\n", " ", "a")),  # the space, which the editor dropped
        (b"\\n\r\n \r\na\r\n", ("\n", " ", "a")),
        (b"\xef\xbb\xbf\\n\n \na", ("\n", " ", "a")),
        (b"\\t\n\\\\\n\\r", ("\t", "\\", "\r")),
        (b"\\t\n\\\nb", ("\t", "\\", "b")),
        (b"\\x1b\n\\u2028\n\\q", ("\x1b", "\u2028", "\\q")),
        ("é\n🤗\nß".encode(), ("é", "🤗", "ß")),
    ],
)
def test_line_breaks_spaces_and_escapes(tmp_path: Path, content: bytes, tokens: tuple[str, ...]) -> None:
    (tmp_path / "table.txt").write_bytes(content)

    assert read_table(tmp_path / "table.txt", 3) == tokens


def test_a_table_may_be_shorter_than_the_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("a\nb\n")
    table = tokenizer_for(64, read_table(tmp_path / "table.txt", 64))

    assert table.token_text(63) == "‹unused 63›"


def test_a_character_that_the_table_lacks_is_named_with_its_place() -> None:
    with pytest.raises(TextError, match="no token for 'é', character 3"):
        tokenizer_for(2, ("a", "b")).encode("abé")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\nb\nc\nd\n", "has 4 lines, but the model has 3 tokens"),
        (b"a\nb\na\n", "has 'a' twice, in lines 1 and 3"),
        (b"", "is empty"),
        (b"\xff\xfe", "is no text in UTF-8"),
        (b"\x80\x04\x95\0", "is no text in UTF-8"),
        (b"a\0\nb", "is no text file"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "table.txt").write_bytes(content)

    with pytest.raises(TableError, match=said):
        read_table(tmp_path / "table.txt", 3)


def test_a_table_that_is_not_there_says_so(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(TableError, match="is no file"):
            read_table(path, 3)
