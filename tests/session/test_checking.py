"""Checks, measured on every trace while nobody waits for the worker."""

from collections.abc import Callable
from threading import Event

import pytest
import torch
from holding import Wait
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from gptviz.analysis.checks import CAUSALITY, Check
from gptviz.session import jobs
from gptviz.session.session import Session
from gptviz.session.state import CheckReport

pytestmark = pytest.mark.without_pauses

Settle = Callable[[], None]


@pytest.fixture
def settle(ready: Session, qtbot: QtBot) -> Settle:
    """A function that waits until the checks are measured."""
    return lambda: qtbot.waitUntil(lambda: not ready.busy and ready.state.checks.complete)


def test_each_trace_is_checked_by_itself(ready: Session, settle: Settle) -> None:
    settle()

    report = ready.state.checks
    assert (report.done, report.total) == (3, 3)  # outside the blocks, and two blocks
    assert len(report.results) == 8
    assert report.broken == ()
    assert all(check.ok for check in report.results)


def test_another_pass_starts_the_checks_anew(ready: Session, settle: Settle, wait: Wait) -> None:
    settle()
    ready.set_prompt("Every effort")
    ready.run()
    wait()
    settle()

    assert ready.state.checks.complete
    assert len(ready.state.checks.results) == 8


def test_a_model_that_computes_wrongly_breaks_a_check(ready: Session, settle: Settle, wait: Wait) -> None:
    assert ready.state.trace is not None
    block = ready.state.trace.replay.model.trf_blocks[1]
    handle = block.att.weights.register_forward_hook(lambda module, args, output: output * 1.01)
    ready.run()
    wait()
    settle()
    handle.remove()

    (broken,) = ready.state.checks.broken
    assert broken.name == "attention rows sum to one"
    assert broken.where == "trf_blocks.1.att.weights"
    assert broken.max_error == pytest.approx(0.01, rel=1e-3)


def test_a_mask_that_lets_the_future_through_is_found(ready: Session, settle: Settle, wait: Wait) -> None:
    assert ready.state.trace is not None
    mask = ready.state.trace.replay.model.trf_blocks[0].att.masked
    mask.future = torch.zeros_like(mask.future)
    ready.run()
    wait()
    settle()

    assert "nothing above the diagonal" in {check.name for check in ready.state.checks.broken}

    ready.checking.check_causality()
    wait()
    assert CAUSALITY in {check.name for check in ready.state.checks.broken}


def causality(session: Session) -> Check:
    return next(check for check in session.state.checks.results if check.name == CAUSALITY)


def test_causality_is_checked_on_demand(ready: Session, settle: Settle, wait: Wait) -> None:
    settle()
    ready.checking.check_causality()
    wait()

    assert causality(ready).ok is True
    assert len(ready.state.checks.results) == 9


def test_causality_cannot_be_checked_on_one_token_and_says_so(ready: Session, settle: Settle, wait: Wait) -> None:
    ready.set_prompt("Hello")
    ready.run()
    wait()
    settle()
    ready.checking.check_causality()
    wait()

    assert causality(ready).ok is None
    assert causality(ready).note == "one token has no earlier position"


def test_checks_give_way_to_a_person(ready: Session, wait: Wait, settle: Settle) -> None:
    for _ in range(5):
        ready.run()
        assert ready.computing
        wait()
    settle()

    assert ready.state.checks.complete


def test_changes_while_a_check_runs_queue_no_second_one(
    ready: Session, settle: Settle, wait: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    check_part = jobs.check_part
    monkeypatch.setattr(
        jobs, "check_part", lambda trace, part, context: (begun.append(part), check_part(trace, part, context))[1]
    )
    settle()
    ready.set_prompt("Every effort")
    begun.clear()
    ready.run()
    wait()
    for _ in range(30):
        ready.walk.forward()
    settle()

    assert sorted(set(begun)) == [0, 1, 2]
    assert len(begun) <= 4


def test_checks_go_on_after_a_quiet_job_that_changes_nothing(ready: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: ready.settled)
    begun, let_go = Event(), Event()

    ready.submit_quietly(lambda _: (begun.set(), let_go.wait(60)), lambda _: None)
    qtbot.waitUntil(begun.is_set)
    ready.change(checks=CheckReport(total=3))
    for _ in range(3):
        QCoreApplication.processEvents()  # they find the worker at work
    let_go.set()

    qtbot.waitUntil(lambda: ready.state.checks.complete)
