"""``gptviz compare``: two texts on one model, with what differs and by how much."""

import argparse
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import TOP, add_json, encode_prompt, print_json

if TYPE_CHECKING:
    from gptviz.analysis.compared_tokens import RankedToken
    from gptviz.analysis.comparison import StageDifference
    from gptviz.tokenizer import Tokenizer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="TEXT", help="what is compared with")
    parser.add_argument("b", metavar="TEXT", help="what is compared")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.compared_tokens import ranked_tokens
    from gptviz.analysis.comparison import Run, compare_part, in_order, parts
    from gptviz.capture import capture

    choice = chosen(options)
    tokenizer, length = choice.tokenizer, choice.config.context_length
    ids = [encode_prompt(choice, text, length) for text in (options.a, options.b)]
    a, b = (Run(capture(choice.model, torch.tensor([row]))) for row in ids)
    found = [one for part in range(parts(a.config, b.config)) for one in compare_part(a, b, part)]
    stages = in_order(found)
    tops = [ranked_tokens(one.last_logits, other.last_logits, TOP) for one, other in ((a, b), (b, a))]
    if options.json:
        tokens = [_pair(place, one, other, tokenizer) for place, (one, other) in enumerate(zip_longest(*ids))]
        top = {name: [_ranked(token, tokenizer) for token in ranked] for name, ranked in zip("ab", tops, strict=True)}
        print_json({"model": choice.described, "tokens": tokens, "top": top, "stages": [_stage(one) for one in stages]})
        return 0
    for place, (one, other) in enumerate(zip_longest(*ids)):
        texts = ("nothing" if token is None else repr(tokenizer.token_text(token)) for token in (one, other))
        print(f"{place:>4}  {'=' if one == other else '≠'}  {'  '.join(f'{text:<24}' for text in texts).rstrip()}")
    for name, ranked in zip("AB", tops, strict=True):
        print(f"likeliest after {name}, with rank and probability in the other")
        for token in ranked:
            other = f"{token.other_rank:>6} {(token.other_probability or 0) * 100:9.5f} %"
            print(f"{token.rank:>4} {token.probability * 100:9.5f} %  {other}  {tokenizer.token_text(token.id)!r}")
    print("stages: ‖B − A‖ / ‖A‖")
    for one in stages:
        print(f"{one.name:<32} {_size(one):<12} {one.shape_a} {one.shape_b} {one.note}".rstrip())
    return 0


def _pair(place: int, a: int | None, b: int | None, tokenizer: "Tokenizer") -> dict[str, Any]:
    sides = {
        name: None if token is None else {"id": token, "text": tokenizer.token_text(token)}
        for name, token in (("a", a), ("b", b))
    }
    return {"position": place, "same": a == b, **sides}


def _ranked(token: "RankedToken", tokenizer: "Tokenizer") -> dict[str, Any]:
    return {
        "id": token.id,
        "text": tokenizer.token_text(token.id),
        "rank": token.rank,
        "probability": token.probability,
        "other_rank": token.other_rank,
        "other_probability": token.other_probability,
    }


def _stage(one: "StageDifference") -> dict[str, Any]:
    def shape(sizes: tuple[int, ...] | None) -> list[int] | None:
        return None if sizes is None else list(sizes)

    def finite(value: float | None) -> float | None:
        return value if value is not None and abs(value) < float("inf") else None  # JSON has no infinity

    return {
        "name": one.name,
        "shape_a": shape(one.shape_a),
        "shape_b": shape(one.shape_b),
        "relative_difference": finite(one.relative),
        "largest_difference": finite(one.largest),
        "differing_tokens": one.differing,
        "note": one.note,
    }


def _size(one: "StageDifference") -> str:
    if one.differing is not None:
        return f"{one.differing} differ"
    return "-" if one.relative is None else f"{one.relative:.3g}"
