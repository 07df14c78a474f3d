"""Measure gptviz on this machine: `python scripts/bench.py`, or with the names of parts to measure only those.

Times are ratios taken in one run, alternating between the two sides, so that they mean something on another
machine and on a noisy one. Each part runs in a process of its own.
"""

import argparse
import os
from collections.abc import Callable

from benchmarks import generating, looking, passes, start, walking

from gptviz.cli import set_up_torch

_Options = argparse.Namespace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"any of {', '.join(PARTS)}, which are the default, or {', '.join(LONG)}, which take minutes",
    )
    parser.add_argument("--tokens", type=int, default=1000, help="how many the part generation appends, default 1000")
    parser.add_argument("--config", default="gpt2-small", help="the model of the part generation, default gpt2-small")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    set_up_torch()
    if options.inside:
        INSIDE[options.inside](options)
        return
    for name in options.parts or PARTS:
        if name not in (known := {**PARTS, **LONG}):
            parser.error(f"there is no part {name!r}: choose from {', '.join(known)}")
        known[name](options)


PARTS: dict[str, Callable[[_Options], None]] = {
    "capture": lambda options: passes.capture_ratio(),
    "memory": lambda options: passes.memory(),
    "event-loop": lambda options: looking.event_loop(),
    "start": lambda options: start.window_start(),
    "repaint": lambda options: looking.repaint(),
    "walk": lambda options: walking.walk(),
    "arithmetic": lambda options: looking.arithmetic(),
}
LONG: dict[str, Callable[[_Options], None]] = {
    "generation": lambda options: generating.generation(options.tokens, options.config),
    "lens": lambda options: generating.lens(),
    "compare": lambda options: generating.compare(),
}
INSIDE: dict[str, Callable[[_Options], None]] = {
    "ratio-4": lambda options: passes.ratio_of(4, 60),
    "ratio-64": lambda options: passes.ratio_of(64, 40),
    "ratio-256": lambda options: passes.ratio_of(256, 20),
    "ratio-1024": lambda options: passes.ratio_of(1024, 8),
    "memory-plain": lambda options: passes.peak_memory("plain"),
    "memory-captured": lambda options: passes.peak_memory("captured"),
    "memory-walked": lambda options: passes.peak_memory("walked"),
    "paint-bare": lambda options: start.paint_bare(),
    "paint-gptviz": lambda options: start.paint_gptviz(),
    "event-loop": lambda options: looking.measure_event_loop(),
    "repaint": lambda options: looking.measure_repaint(),
    "walk-64": lambda options: walking.measure_walk(64),
    "walk-1024": lambda options: walking.measure_walk(1024),
    "arithmetic": lambda options: looking.measure_arithmetic(),
    "generation": lambda options: generating.measure_generation(options.tokens, options.config),
    "lens": lambda options: generating.measure_lens(),
    "compare": lambda options: generating.measure_compare(),
}

if __name__ == "__main__":
    main()
