"""``gptviz where-from``: what each part added to a number."""

import argparse

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import UsageError, add_json, add_text, encode_prompt, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--stage", metavar="NAME", help="a stage of the stream, such as trf_blocks.0.shortcut2")
    what.add_argument("--logit", metavar="TOKEN", help="a token's ID, or its text with the leading space")
    parser.add_argument("--minus", metavar="TOKEN", help="with --logit: explain its lead over this token's logit")
    parser.add_argument("--index", metavar="I,J,K", help="sequence, token, feature; a logit has no feature")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.attribution_answer import as_json, as_lines, full_answer
    from gptviz.analysis.attribution_question import Asked, understand
    from gptviz.capture import capture

    choice = chosen(options)
    tokenizer, config = choice.tokenizer, choice.config
    ids = encode_prompt(choice, options.text, config.context_length)
    asked = Asked(options.stage, options.logit, options.minus, options.index)
    try:
        question, position = understand(asked, config, len(ids), tokenizer.encode)
    except ValueError as error:
        raise UsageError(str(error)) from error
    trace = capture(choice.model, torch.tensor([ids]))
    found = full_answer(trace, 0, position, question)
    if options.json:
        print_json(as_json(found, position, tokenizer.token_text))
    for line in () if options.json else as_lines(found):
        print(line)
    return 0
