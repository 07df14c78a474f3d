"""``gptviz params``: the parameters, counted."""

import argparse

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import add_json, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from gptviz.model import count_parameters

    config = chosen(options).config
    count = count_parameters(config)
    if options.json:
        components = [{"name": name, "parameters": number} for name, number in count.components.items()]
        totals = {"total": count.total, "total_tied": count.total_tied, "tied": config.tie_weights}
        print_json({"components": components, **totals})
        return 0
    for name, number in count.components.items():
        print(f"{name:<12} {number:>15,}")
    print(f"{'total':<12} {count.total:>15,}\n{'tied':<12} {count.total_tied:>15,}")
    return 0
