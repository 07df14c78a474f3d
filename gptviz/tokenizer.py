"""GPT-2's byte-pair encoding, from bundled files."""

import codecs
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import tiktoken
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

from gptviz import resources

END_OF_TEXT = "<|endoftext|>"
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


class Tokenizer:
    """Text to token IDs and back."""

    def __init__(self) -> None:
        with _no_tiktoken_cache():
            ranks = data_gym_to_mergeable_bpe_ranks(
                str(resources.path("gpt2-bpe", "vocab.bpe")), str(resources.path("gpt2-bpe", "encoder.json"))
            )
        self._encoding = tiktoken.Encoding(
            "gpt2", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: _END_OF_TEXT_ID}
        )

    def encode(self, text: str) -> list[int]:
        """Return the token IDs of ``text``; ``<|endoftext|>`` in it becomes the special token.

        Half a surrogate pair, which is no character, becomes U+FFFD.
        """
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return self._encoding.encode(whole, allowed_special="all")

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ``ids``; bytes that are no whole character are written as ‹F0·9F›."""
        return b"".join(self.token_bytes(token) for token in ids).decode("utf-8", _SHOW_BYTES)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that token ID ``token`` stands for; one beyond GPT-2's vocabulary is written as ‹50300›."""
        try:
            return self._encoding.decode_single_token_bytes(token)
        except KeyError:
            return f"‹{token}›".encode()

    def token_text(self, token: int) -> str:
        """Return the text of one token on its own."""
        return self.decode([token])

    def pieces(self, ids: Sequence[int]) -> tuple[Piece, ...]:
        """Describe each of ``ids`` as a person sees it."""
        data = [self.token_bytes(token) for token in ids]
        groups = _groups(data)
        return tuple(
            Piece(position, token, own.decode("utf-8", _SHOW_BYTES), own, group)
            for position, (token, own, group) in enumerate(zip(ids, data, groups, strict=True))
        )


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
def gpt2_tokenizer() -> Tokenizer:
    """Return the one tokenizer of this process, read at the first call."""
    return Tokenizer()


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
