"""Generating many tokens in the window: gaps of the event loop, memory, and how soon Stop stops."""

import statistics
import time

from benchmarks.process import inside, tell
from benchmarks.window import Beats, resident, run_in_window, wait_while

_STOPS = 5
_TELL_EVERY = 100  # tokens


def generation(tokens: int, config: str) -> None:
    figures = inside("generation", tokens=tokens, config=config)
    print(
        f"generation of {tokens} tokens ({config}): event-loop gap worst {figures['worst_ms']:.0f} ms, typically "
        f"{figures['typical_ms']:.0f} ms a token, over 50 ms {figures['over']:.0f} times; memory after the first "
        f"hundred {figures['grown']:+.0f} MB; Stop takes {figures['stop_ms']:.0f} ms at most   "
        f"({figures['seconds']:.0f} s, window at rest {figures['rest_ms']:.0f} ms)"
    )


def measure_generation(tokens: int, config: str) -> None:
    def look(app: object, session: object, window: object) -> None:
        wait_while(app, lambda: not session.settled)
        beats, worst, all_gaps, memory = Beats(), [], [], []
        rest_ms = max(_gaps_of(app, beats, 1.0))
        began = time.perf_counter()
        session.loop.play(tokens)
        while session.state.generation.playing or session.busy:
            count = len(session.state.generation.steps)
            wait_while(
                app,
                lambda count=count: (
                    len(session.state.generation.steps) == count and (session.state.generation.playing or session.busy)
                ),
            )
            gaps = beats.gaps()
            worst.append(max(gaps, default=0.0))
            all_gaps += gaps
            if count % _TELL_EVERY == 0 and count:
                memory.append(resident() / 1e6)
                print(
                    f"  {count} tokens, {time.perf_counter() - began:.0f} s: "
                    f"worst gap {max(worst[-_TELL_EVERY:]):.0f} ms, {memory[-1]:.0f} MB",
                    flush=True,
                )
        seconds = time.perf_counter() - began
        memory.append(resident() / 1e6)
        tell(
            worst_ms=max(worst),
            typical_ms=statistics.median(worst),
            over=sum(gap > 50 for gap in all_gaps),
            grown=memory[-1] - memory[0],
            stop_ms=max(_stop_after(app, session, 0.05 + 0.15 * turn) for turn in range(_STOPS)),
            seconds=seconds,
            rest_ms=rest_ms,
        )
        beats.stop()

    run_in_window("Hello, I am", look, config)


def _gaps_of(app: object, beats: Beats, seconds: float) -> list[float]:
    beats.gaps()
    until = time.perf_counter() + seconds
    wait_while(app, lambda: time.perf_counter() < until)
    return beats.gaps()


def _stop_after(app: object, session: object, seconds: float) -> float:
    """Return the ms from Stop to the moment when nothing runs any more, in the middle of a pass."""
    session.loop.play()
    count = len(session.state.generation.steps)
    wait_while(app, lambda: len(session.state.generation.steps) == count)
    until = time.perf_counter() + seconds
    wait_while(app, lambda: time.perf_counter() < until)
    began = time.perf_counter()
    session.cancel()
    wait_while(app, lambda: session.computing or session.state.activity is not None)
    return (time.perf_counter() - began) * 1000


# --- what is read off a long pass ------------------------------------------------------------------------


def lens() -> None:
    _print_reading("lens", "the lens")


def compare() -> None:
    _print_reading("compare", "the comparison of two runs")


def _print_reading(name: str, what: str) -> None:
    figures = inside(name)
    print(
        f"{what}, 1024 tokens: complete after {figures['seconds']:.1f} s, "
        f"worst event-loop gap {figures['worst_ms']:.0f} ms"
    )


def measure_lens() -> None:
    def look(app: object, session: object, window: object) -> None:
        _run_and_settle(app, session)
        _tell_reading(app, session, lambda: window.show_pane("lens"))

    run_in_window(" the" * 1024, look)


def measure_compare() -> None:
    def look(app: object, session: object, window: object) -> None:
        _run_and_settle(app, session)
        session.comparing.pin()
        session.set_prompt(" a" * 1024)
        wait_while(app, lambda: not session.settled)
        _run_and_settle(app, session)
        _tell_reading(app, session, lambda: window.show_pane("compare"))

    run_in_window(" the" * 1024, look)


def _run_and_settle(app: object, session: object) -> None:
    session.run()
    wait_while(app, lambda: not session.settled)


def _tell_reading(app: object, session: object, show: object) -> None:
    beats = Beats()
    began = time.perf_counter()
    show()
    wait_while(app, lambda: not session.watched)
    wait_while(app, lambda: session.busy or session.watched)
    wait_while(app, lambda: not beats.times)
    tell(seconds=time.perf_counter() - began, worst_ms=max(beats.gaps()))
    beats.stop()
