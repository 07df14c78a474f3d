"""What capturing a forward pass costs: time and memory."""

import resource  # not on Windows: the memory part needs it
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.process import inside, tell

if TYPE_CHECKING:
    from collections.abc import Callable


def capture_ratio() -> None:
    for tokens in (4, 64, 256, 1024):
        figures = inside(f"ratio-{tokens}")
        print(
            f"captured ÷ plain, {tokens:>4} tokens: {figures['ratio']:.3f}   "
            f"(fastest ÷ fastest {figures['fastest']:.3f}; plain {figures['plain_ms']:.0f} ms)"
        )


def ratio_of(tokens: int, pairs: int) -> None:
    import torch

    from gptviz.capture import capture
    from gptviz.model import GPT2_SMALL, initialise

    model = initialise(GPT2_SMALL, 123)
    ids = torch.randint(0, 50257, (1, tokens))

    def plain() -> None:
        with torch.no_grad():
            model(ids)

    def captured() -> None:
        capture(model, ids)

    plain(), captured()
    times: dict[Callable[[], None], list[float]] = {plain: [], captured: []}
    for turn in range(pairs):
        for run in (plain, captured) if turn % 2 else (captured, plain):
            start = time.perf_counter()
            run()
            times[run].append(time.perf_counter() - start)
    ratios = [b / a for a, b in zip(times[plain], times[captured], strict=True)]
    tell(
        ratio=statistics.median(ratios),
        fastest=min(times[captured]) / min(times[plain]),
        plain_ms=min(times[plain]) * 1000,
    )


def memory() -> None:
    plain, captured, walked = (inside(f"memory-{what}")["peak"] for what in ("plain", "captured", "walked"))
    print(
        f"memory added by capture, 1024 tokens: {(captured - plain) / 1e6:.0f} MB; "
        f"by looking into every block too: {(walked - plain) / 1e6:.0f} MB   (plain pass: {plain / 1e6:.0f} MB)"
    )


def peak_memory(what: str) -> None:
    import torch

    from gptviz.capture import capture
    from gptviz.model import GPT2_SMALL, initialise

    model = initialise(GPT2_SMALL, 123)
    ids = torch.randint(0, 50257, (1, 1024))
    if what == "plain":
        with torch.no_grad():
            model(ids)
    else:
        trace = capture(model, ids)
        for layer in range(12) if what == "walked" else ():
            trace = trace.with_block(layer)
    tell(peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
