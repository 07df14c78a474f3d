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

    ``text`` is the token's own text; bytes that are no whole character on their own are written as ‹F0 9F›.
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
        """Return the text of ``ids``; bytes that are no whole character are written as ‹F0 9F›."""
        return b"".join(self.token_bytes(token) for token in ids).decode("utf-8", _SHOW_BYTES)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that token ID ``token`` stands for."""
        return self._encoding.decode_single_token_bytes(token)

    def token_text(self, token: int) -> str:
        """Return the text of one token on its own."""
        return self.decode([token])

    def pieces(self, ids: Sequence[int]) -> tuple[Piece, ...]:
        """Describe each of ``ids`` as a person sees it."""
        pieces = []
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        group, open_group = 0, False
        for position, token in enumerate(ids):
            data = self.token_bytes(token)
            if not open_group:
                group = position
            decoder.decode(data)
            open_group = bool(decoder.getstate()[0])
            pieces.append(Piece(position, token, data.decode("utf-8", _SHOW_BYTES), data, group))
        return tuple(pieces)


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
    return f"‹{error.object[error.start : error.end].hex(' ').upper()}›", error.end


codecs.register_error(_SHOW_BYTES, _show_bytes)
