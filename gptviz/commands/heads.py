"""``gptviz heads``: what each attention head does, as a few scores."""

import argparse

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import add_json, add_text, encode_prompt, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from gptviz.commands.head_report import definitions, report_on, report_on_probe

    choice = chosen(options)
    ids = encode_prompt(choice, options.text, choice.config.context_length)
    prompt, probe = report_on(choice.model, ids), report_on_probe(choice.model)
    if options.json:
        reports = {"prompt": prompt.as_json(), "probe": probe.as_json()}
        print_json({"model": choice.described, "scores": definitions(), **reports})
        return 0
    for title, report in (("the text", prompt), ("random tokens, said twice", probe)):
        print(f"on {title}, {len(report.ids)} tokens", *report.lines(), sep="\n")
    return 0
