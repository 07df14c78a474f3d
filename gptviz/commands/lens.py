"""``gptviz lens``: what each block would predict if the output head read the residual stream after it."""

import argparse
from typing import TYPE_CHECKING, Any

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import add_json, add_text, encode_prompt, piece_json, print_json

if TYPE_CHECKING:
    from gptviz.analysis.logit_lens import LensReading
    from gptviz.tokenizer import Tokenizer

_WIDTH = 22  # characters of a column


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.logit_lens import read_all
    from gptviz.capture import capture

    choice = chosen(options)
    tokenizer = choice.tokenizer
    ids = encode_prompt(choice, options.text, choice.config.context_length)
    trace = capture(choice.model, torch.tensor([ids]), budget=0)
    reading = read_all(trace, 0)
    if options.json:
        tokens = [piece_json(piece) for piece in tokenizer.pieces(ids)]
        rows = [
            {"stage": name, "positions": _row(reading, place, tokenizer)} for place, name in enumerate(reading.stages)
        ]
        difference = reading.difference if reading.difference < float("inf") else None  # JSON has no infinity
        print_json({"model": choice.described, "tokens": tokens, "rows": rows, "last_row_difference": difference})
        return 0
    print(
        "What final norm and head would predict after each block: a reading, but for the last row no step of the model."
    )
    print(" " * 12 + "".join(_cell(repr(tokenizer.token_text(token))) for token in ids).rstrip())
    for place in range(len(reading.stages)):
        title = f"block {place}" if place else "embeddings"
        cells = (_cell(_best(reading, place, position, tokenizer)) for position in range(reading.tokens))
        print(f"{title:<12}{''.join(cells)}".rstrip())
    print(f"The last row is the model's output; the largest difference of a logit is {reading.difference:.2g}.")
    return 0


def _row(reading: "LensReading", stage: int, tokenizer: "Tokenizer") -> list[list[dict[str, Any]]]:
    found = (reading.ids[stage], reading.logits[stage], reading.probabilities[stage])
    return [
        [
            {"id": token, "text": tokenizer.token_text(token), "logit": logit, "probability": probability}
            for token, logit, probability in zip(*position, strict=True)
        ]
        for position in zip(*(array.tolist() for array in found), strict=True)
    ]


def _best(reading: "LensReading", stage: int, position: int, tokenizer: "Tokenizer") -> str:
    text = repr(tokenizer.token_text(int(reading.ids[stage, position, 0])))
    value = reading.probabilities[stage, position, 0] * 100
    share = f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"  # two digits, and no 1e+02
    return f"{text[: _WIDTH - len(share) - 3]} {share}"


def _cell(text: str) -> str:
    return f"{text[: _WIDTH - 2]:<{_WIDTH}}"
