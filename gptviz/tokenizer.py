"""Text to token IDs and back: GPT-2's byte-pair encoding from bundled files, a table of tokens, or bare IDs."""

import codecs
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

from gptviz import resources

END_OF_TEXT = "<|endoftext|>"
GPT2_TOKENS = 50257
_END_OF_TEXT_ID = 50256
# Words with the space before them, runs of digits, of punctuation, of white space; English contractions apart.
# Source: Radford et al. (2019), published with GPT-2.
_PATTERN = r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


@dataclass(frozen=True)
class Piece:
    """One token as a person sees it.

    ``text`` is the token's own text; bytes that are no whole character on their own are written as ‹F0·9F›.
    ``group`` is the position of the first of the tokens that a character is split over, else the own position.
    """

    position: int
    id: int
    text: str
    bytes: bytes
    group: int


class TextError(ValueError):
    """A text can't be written in this vocabulary; the message says why and what to do."""


class Tokenizer:
    """Text to token IDs and back, for a model of ``vocab_size`` tokens."""

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size = vocab_size

    def encode(self, text: str) -> list[int]:
        """Return the token IDs of ``text``.

        Raises
        ------
        TextError
            If the vocabulary has no tokens for it.
        """
        raise NotImplementedError

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that token ID ``token`` stands for; none if it stands for no text."""
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ``ids``; bytes that are no whole character are written as ‹F0·9F›."""
        text, data = "", b""
        for token in ids:
            own = self.token_bytes(token)
            if own:
                data += own
            else:
                text, data = text + data.decode("utf-8", _SHOW_BYTES) + self._name(token), b""
        return text + data.decode("utf-8", _SHOW_BYTES)

    def token_text(self, token: int) -> str:
        """Return the text of one token on its own."""
        return self.decode([token])

    def pieces(self, ids: Sequence[int]) -> tuple[Piece, ...]:
        """Describe each of ``ids`` as a person sees it."""
        data = [self.token_bytes(token) for token in ids]
        groups = _groups([own or b"\xff" for own in data])  # which is in no character
        return tuple(
            Piece(position, token, own.decode("utf-8", _SHOW_BYTES) if own else self._name(token), own, group)
            for position, (token, own, group) in enumerate(zip(ids, data, groups, strict=True))
        )

    def _name(self, token: int) -> str:
        return f"‹unused {token}›"


class Gpt2Tokenizer(Tokenizer):
    """GPT-2's 50,257 tokens. A model may have rows beyond them, which fill up its matrices: they are unused."""

    def __init__(self) -> None:
        super().__init__(GPT2_TOKENS)
        self._encoding = _gpt2_encoding()

    def padded(self, vocab_size: int) -> "Gpt2Tokenizer":
        """Return the same for a model with more rows than there are tokens."""
        padded = copy(self)
        padded.vocab_size = vocab_size
        return padded

    def encode(self, text: str) -> list[int]:
        """Return the token IDs of ``text``; ``<|endoftext|>`` in it becomes the special token.

        Half a surrogate pair, which is no character, becomes U+FFFD.
        """
        return self._encoding.encode(_without_halves(text), allowed_special="all")

    def token_bytes(self, token: int) -> bytes:
        return self._encoding.decode_single_token_bytes(token) if 0 <= token < GPT2_TOKENS else b""


class TableTokenizer(Tokenizer):
    """The tokens that a person has listed, such as the characters of a character model; the longest one wins."""

    def __init__(self, tokens: Sequence[str], vocab_size: int) -> None:
        super().__init__(vocab_size)
        self.tokens = tuple(tokens)
        self._ids = {token: place for place, token in enumerate(tokens)}
        self._longest = max((len(token) for token in tokens), default=1)

    def encode(self, text: str) -> list[int]:
        text, ids, place = _without_halves(text), [], 0
        while place < len(text):
            widths = range(min(self._longest, len(text) - place), 0, -1)
            width = next((width for width in widths if text[place : place + width] in self._ids), 0)
            if not width:
                raise TextError(
                    f"the model's vocabulary has no token for {text[place]!r}, character {place + 1} of the prompt"
                )
            ids.append(self._ids[text[place : place + width]])
            place += width
        return ids

    def token_bytes(self, token: int) -> bytes:
        known = 0 <= token < len(self.tokens)
        return self.tokens[token].encode("utf-8", "surrogatepass") if known else b""


class BareIds(Tokenizer):
    """No texts at all: a prompt is written as IDs, such as ``0 1 2``."""

    def encode(self, text: str) -> list[int]:
        ids = []
        for word in text.replace(",", " ").split():
            number = word.lstrip("0")[:12] or "0"
            if not (word.isascii() and word.isdecimal()) or int(number) >= self.vocab_size:
                raise TextError(
                    f"{word[:20]!r} is no token ID: the model has no table of tokens, so a prompt is a row of IDs "
                    f"from 0 to {self.vocab_size - 1:,}, such as {self.example()}"
                )
            ids.append(int(number))
        return ids

    def example(self) -> str:
        """Return a prompt that the vocabulary has."""
        return self.decode(range(min(3, self.vocab_size)))

    def token_bytes(self, token: int) -> bytes:
        return b""

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(map(str, ids))

    def _name(self, token: int) -> str:
        return str(token)


def _groups(parts: Sequence[bytes]) -> list[int]:
    """Return for each part the position of the first part that shares a character with it, else its own."""
    starts = []  # for each character's bytes: the part that they come from
    for position, part in enumerate(parts):
        starts.extend([position] * len(part))
    groups = list(range(len(parts)))
    whole = b"".join(parts)
    place = 0
    while place < len(whole):
        width = _character_width(whole, place)
        first = groups[starts[place]]
        for position in range(starts[place], starts[place + width - 1] + 1):
            groups[position] = first
        place += width
    return groups


def _character_width(data: bytes, place: int) -> int:
    """Return how many bytes the UTF-8 character at ``place`` has; 1 for a byte that begins no whole character."""
    for width in (1, 2, 3, 4):
        try:
            data[place : place + width].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return min(width, len(data) - place)
    return 1


@cache
def gpt2_tokenizer() -> Gpt2Tokenizer:
    """Return the one GPT-2 tokenizer of this process, read at the first call."""
    return Gpt2Tokenizer()


def tokenizer_for(vocab_size: int, table: Sequence[str] | None = None, gpt2_tokens: bool = True) -> Tokenizer:
    """Return what reads and writes texts for a model of ``vocab_size`` tokens.

    ``table`` lists their texts. ``gpt2_tokens`` is False if they are known not to be GPT-2's.
    """
    if table is not None:
        return TableTokenizer(table, vocab_size)
    if vocab_size < GPT2_TOKENS or not gpt2_tokens:
        return BareIds(vocab_size)
    return gpt2_tokenizer() if vocab_size == GPT2_TOKENS else gpt2_tokenizer().padded(vocab_size)


def _without_halves(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _gpt2_encoding() -> tiktoken.Encoding:
    with _no_tiktoken_cache():
        ranks = data_gym_to_mergeable_bpe_ranks(
            str(resources.path("gpt2-bpe", "vocab.bpe")), str(resources.path("gpt2-bpe", "encoder.json"))
        )
    return tiktoken.Encoding(
        "gpt2", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: _END_OF_TEXT_ID}
    )


@contextmanager
def _no_tiktoken_cache() -> Iterator[None]:
    """Keep tiktoken's loader from copying the bundled files into a cache directory."""
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


_SHOW_BYTES = "gptviz-show-bytes"


def _show_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return f"‹{error.object[error.start : error.end].hex(' ').upper().replace(' ', '·')}›", error.end


codecs.register_error(_SHOW_BYTES, _show_bytes)
