"""How the next token is chosen, as options of a command."""

import argparse

from gptviz.analysis.decoding_settings import DEFAULT_SAMPLE_SEED, Decoding, DecodingError
from gptviz.commands.common import UsageError


def add_decoding(parser: argparse.ArgumentParser) -> None:
    """Add temperature, top-k, top-p, and the seed of the draw."""
    parser.add_argument("--temperature", type=float, default=0.0, help="0, the default, is greedy: nothing is drawn")
    parser.add_argument("--top-k", type=int, metavar="K", help="draw from the K likeliest tokens")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="draw from the likeliest with P together")
    parser.add_argument("--sample-seed", type=int, default=DEFAULT_SAMPLE_SEED, help="seed of the draw (default 42)")


def decoding_of(options: argparse.Namespace, vocab_size: int) -> Decoding:
    """Return what the options ask for.

    Raises
    ------
    UsageError
        If they make no sense.
    """
    if options.top_k is not None and options.top_k > vocab_size:
        raise UsageError(f"--top-k is {options.top_k}, but the vocabulary has {vocab_size} tokens")
    try:
        return Decoding(
            temperature=options.temperature, top_k=options.top_k, top_p=options.top_p, seed=options.sample_seed
        )
    except DecodingError as error:
        raise UsageError(str(error)) from error
