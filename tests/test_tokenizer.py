import os
import subprocess
import sys
from pathlib import Path

import pytest

from gptviz.tokenizer import END_OF_TEXT, Gpt2Tokenizer, Piece, Tokenizer, gpt2_tokenizer

HIGH, LOW = "\ud83e", "\udd17"  # the two halves of 🤗 in UTF-16


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return gpt2_tokenizer()


def test_the_reference_texts_get_gpt2s_ids(tokenizer: Tokenizer, figures: dict) -> None:
    assert {text: tokenizer.encode(text) for text in figures["tokens"]} == figures["tokens"]


def test_no_text_is_no_token(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""
    assert tokenizer.pieces([]) == ()


@pytest.mark.parametrize(("text", "ids"), [(END_OF_TEXT, [50256]), (END_OF_TEXT * 2, [50256, 50256])])
def test_end_of_text_that_is_typed_is_the_special_token(tokenizer: Tokenizer, text: str, ids: list[int]) -> None:
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text


def test_half_a_special_token_is_ordinary_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("<|endoftext")

    assert 50256 not in ids
    assert tokenizer.decode(ids) == "<|endoftext"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HIGH, "\ufffd"),
        (LOW, "\ufffd"),
        (f"a{HIGH}b", "a\ufffdb"),
        (LOW + HIGH, "\ufffd\ufffd"),
        (HIGH + LOW, "🤗"),
    ],
)
def test_half_a_surrogate_pair_becomes_the_replacement_character(tokenizer: Tokenizer, text: str, shown: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "naïve café\n\ttab",
        "  two  spaces   three    ",
        "\r\n\n\r",
        "\x00\x07\x1b[31m\x7f",
        "\ufeffbyte order mark\ufeff",
        "\u00a0\u2003\u200b\u2028\u2029\u3000",
        "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇨🇭",
        "e\u0301\u0323 Z̸̢̛a̷l̶g̵o̴",
        "שָׁלוֹם مرحبا \u202eright to left\u202c",
        "漢字かな交じり文 한국어 ไทย",
        "\U0010ffff\ue000\ufffd\uffff",
        "it's we'll I'd don't 'S 'LL",
        "<b>&amp;</b> %s {0} \\n ‹F0·9F›",
        "a" * 3000 + " " * 300,
    ],
)
def test_any_text_comes_back_whole(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)

    assert tokenizer.decode(ids) == text
    assert b"".join(piece.bytes for piece in tokenizer.pieces(ids)) == text.encode()


def test_every_id_of_the_vocabulary_stands_for_bytes_of_its_own(tokenizer: Tokenizer) -> None:
    assert len({tokenizer.token_bytes(token) for token in range(50257)}) == 50257


def test_pieces_show_a_text_token_by_token(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(tokenizer.encode("Hello, I")) == (
        Piece(position=0, id=15496, text="Hello", bytes=b"Hello", group=0),
        Piece(position=1, id=11, text=",", bytes=b",", group=1),
        Piece(position=2, id=314, text=" I", bytes=b" I", group=2),
    )


def test_a_split_character_is_shown_as_bytes_that_belong_together(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(tokenizer.encode("a🤗b")) == (
        Piece(position=0, id=64, text="a", bytes=b"a", group=0),
        Piece(position=1, id=8582, text="‹F0·9F›", bytes=b"\xf0\x9f", group=1),
        Piece(position=2, id=97, text="‹A4›", bytes=b"\xa4", group=1),
        Piece(position=3, id=245, text="‹97›", bytes=b"\x97", group=1),
        Piece(position=4, id=65, text="b", bytes=b"b", group=4),
    )


def test_two_split_characters_are_two_groups(tokenizer: Tokenizer) -> None:
    pieces = tokenizer.pieces([8582, 97, 245, 8582, 97, 245])

    assert [piece.group for piece in pieces] == [0, 0, 0, 3, 3, 3]


def test_a_token_after_an_unfinished_character_does_not_belong_to_it(tokenizer: Tokenizer) -> None:
    unfinished, hello = 8582, 15496

    assert [piece.group for piece in tokenizer.pieces([unfinished, hello])] == [0, 1]


def test_a_character_that_starts_after_an_unfinished_one_is_a_group_of_its_own(tokenizer: Tokenizer) -> None:
    assert [piece.group for piece in tokenizer.pieces([8582, 8582, 97, 245])] == [0, 1, 1, 1]


def test_bytes_that_never_become_a_character_are_each_on_their_own(tokenizer: Tokenizer) -> None:
    assert [piece.group for piece in tokenizer.pieces([97, 245, 15496])] == [0, 1, 2]


def test_bytes_that_are_no_whole_character_are_decoded_as_bytes(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode([15496, 8582]) == "Hello‹F0·9F›"
    assert tokenizer.decode([97]) == tokenizer.token_text(97) == "‹A4›"


def test_the_tokenizer_is_read_once() -> None:
    assert gpt2_tokenizer() is gpt2_tokenizer()


@pytest.mark.parametrize("before", [None, "/somewhere"])
def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    if before is None:
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    else:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)

    Gpt2Tokenizer()

    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


ENCODE_WITHOUT_NETWORK = """
import sys

def refuse_network(event, args):
    if event.startswith("socket.") and event != "socket.__new__":
        raise OSError(f"the network was asked for: {event} {args}")

sys.addaudithook(refuse_network)

from gptviz.tokenizer import gpt2_tokenizer

print(gpt2_tokenizer().encode("Hello, I am"))
"""


def test_neither_network_nor_cache_directory_is_used(tmp_path: Path) -> None:
    hidden = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    folders = {name: str(tmp_path) for name in ("TMPDIR", "TEMP", "TMP", "HOME", "XDG_CACHE_HOME")}

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ENCODE_WITHOUT_NETWORK],
        env={**environment, **folders},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("[15496, 11, 314, 716]\n", "")
    assert list(tmp_path.iterdir()) == []
