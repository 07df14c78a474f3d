"""``gptviz explain``: the arithmetic behind one number."""

import argparse

from gptviz.analysis.place import read_index
from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import UsageError, add_json, add_text, encode_prompt, piece_json, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    parser.add_argument("--stage", required=True, metavar="NAME", help="such as trf_blocks.0.att.weights")
    parser.add_argument("--index", required=True, type=_index, metavar="I,J,…", help="counted from 0, such as 0,3,2,1")
    parser.add_argument("--all", action="store_true", help="list every term of a sum, not just the largest")
    add_json(parser)


def _index(text: str) -> tuple[int, ...]:
    try:
        return read_index(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    from gptviz.analysis.arithmetic import CellError, explain, snippet
    from gptviz.analysis.arithmetic.explain import checked_index, checked_stage
    from gptviz.analysis.arithmetic.report import LARGEST, as_json, as_lines

    choice = chosen(options)
    ids = encode_prompt(choice, options.text, choice.config.context_length)
    try:
        stage = checked_stage(choice.config, options.stage)
        checked_index(choice.config, stage, (1, len(ids)), options.index)
    except CellError as error:
        raise UsageError(str(error)) from error
    import torch

    from gptviz.capture import capture

    trace = capture(choice.model, torch.tensor([ids]))
    explanation = explain(trace if stage.layer is None else trace.with_block(stage.layer), stage.name, options.index)
    assert explanation is not None
    most = None if options.all else LARGEST
    if options.json:
        tokens = [piece_json(piece) for piece in choice.tokenizer.pieces(ids)]
        program = snippet(trace, explanation, choice.seed, choice.weights)
        print_json({"model": choice.described, "tokens": tokens, **as_json(explanation, program, most)})
    for line in () if options.json else as_lines(explanation, most):
        print(line)
    return 0
