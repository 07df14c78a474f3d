"""How the next token is chosen, as options of a command."""

import argparse
import sys

from gptviz.analysis.decoding_settings import Decoding, DecodingError
from gptviz.commands.common import UsageError, number, whole_number


def add_decoding(parser: argparse.ArgumentParser) -> None:
    """Add temperature, top-k, top-p, and the seed of the draw."""
    parser.add_argument("--temperature", type=number, metavar="T", help="0, the default, is greedy: nothing is drawn")
    parser.add_argument("--top-k", type=whole_number, metavar="K", help="draw from the K likeliest tokens")
    parser.add_argument("--top-p", type=number, metavar="P", help="draw from the likeliest with P together")
    parser.add_argument("--sample-seed", type=whole_number, metavar="SEED", help="seed of the draw (default 42)")


def decoding_of(options: argparse.Namespace, vocab_size: int) -> Decoding:
    """Return what the options ask for; say so on standard error if they have no effect.

    Raises
    ------
    UsageError
        If they make no sense.
    """
    if options.top_k is not None and options.top_k > vocab_size:
        raise UsageError(f"--top-k is {options.top_k}, but the vocabulary has {vocab_size} tokens")
    asked = {
        "temperature": options.temperature,
        "top_k": options.top_k,
        "top_p": options.top_p,
        "seed": options.sample_seed,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    try:
        decoding = Decoding(**given)
    except DecodingError as error:
        raise UsageError(str(error)) from error
    if given and options.temperature is None:
        print("gptviz: nothing is drawn without --temperature, so the likeliest token is taken", file=sys.stderr)
    return decoding
