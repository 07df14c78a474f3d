"""``gptviz tokens``: the tokens of a text."""

import argparse

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import add_json, add_text, encode, piece_json, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    tokenizer = chosen(options).tokenizer
    pieces = tokenizer.pieces(encode(tokenizer, options.text))
    if options.json:
        print_json({"tokens": [piece_json(piece) for piece in pieces]})
    for piece in () if options.json else pieces:
        print(f"{piece.position:>5}  {piece.id:>6}  {piece.text!r}  {piece.bytes.hex(' ')}")
    return 0
