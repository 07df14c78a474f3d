"""The one thread: what is delivered, and what is dropped."""

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QThread
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gptviz.session.worker import Cancelled, JobContext, Outcome, Worker


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    worker = Worker("test")
    yield worker
    worker.close()


@pytest.fixture
def outcomes() -> list[Outcome]:
    return []


def until_cancelled(context: JobContext) -> str:
    """A job that stops only when it is told to, and then says so."""
    assert context.cancel.wait(60)
    context.report("went on")
    return "not reached"


def deaf(context: JobContext) -> str:
    """A job that is told to stop, but has its result all the same."""
    assert context.cancel.wait(60)
    return "result"


def failing(context: JobContext) -> object:
    raise ZeroDivisionError("out of luck")


def returning(result: object) -> Callable[[JobContext], object]:
    return lambda context: result


def test_a_result_is_delivered(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    worker.submit(returning("result"), outcomes.append)

    qtbot.waitUntil(lambda: outcomes != [])
    assert (outcomes[0].result, outcomes[0].error, outcomes[0].cancelled) == ("result", None, False)


def test_a_failure_is_delivered(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    worker.submit(failing, outcomes.append)

    qtbot.waitUntil(lambda: outcomes != [])
    assert (outcomes[0].result, str(outcomes[0].error), outcomes[0].cancelled) == (None, "out of luck", False)


def test_a_cancel_is_delivered_as_cancelled(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    worker.submit(until_cancelled, outcomes.append)
    worker.cancel()

    qtbot.waitUntil(lambda: outcomes != [])
    assert (outcomes[0].result, outcomes[0].error, outcomes[0].cancelled) == (None, None, True)


def test_a_result_that_comes_after_the_cancel_is_not_delivered(
    worker: Worker, outcomes: list[Outcome], qtbot: QtBot
) -> None:
    worker.submit(deaf, outcomes.append)
    worker.cancel()

    qtbot.waitUntil(lambda: outcomes != [])
    assert (outcomes[0].result, outcomes[0].cancelled) == (None, True)


def test_a_new_job_cancels_the_one_before_whose_outcome_is_dropped(
    worker: Worker, outcomes: list[Outcome], qtbot: QtBot
) -> None:
    worker.submit(until_cancelled, outcomes.append)
    worker.submit(returning("second"), outcomes.append)

    qtbot.waitUntil(lambda: outcomes != [])
    assert [outcome.result for outcome in outcomes] == ["second"]


def test_a_stale_result_is_dropped(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    worker.submit(deaf, lambda outcome: pytest.fail(f"delivered {outcome}"))
    worker.submit(returning("second"), outcomes.append)

    qtbot.waitUntil(lambda: outcomes != [])
    assert [outcome.result for outcome in outcomes] == ["second"]


def test_a_result_that_was_ready_before_the_next_job_is_stale_too(
    worker: Worker, outcomes: list[Outcome], qtbot: QtBot
) -> None:
    done = threading.Event()
    worker.submit(lambda context: done.set(), lambda outcome: pytest.fail(f"delivered {outcome}"))
    assert done.wait(60)
    worker.submit(returning("second"), outcomes.append)

    qtbot.waitUntil(lambda: outcomes != [])
    assert [outcome.result for outcome in outcomes] == ["second"]


def test_an_outcome_never_arrives_inside_submit(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    done = threading.Event()
    worker.submit(lambda context: done.set(), outcomes.append)

    assert done.wait(60)
    assert outcomes == []
    qtbot.waitUntil(lambda: outcomes != [])


def test_work_is_done_in_the_thread_and_answered_in_the_gui_thread(worker: Worker, qtbot: QtBot) -> None:
    threads: list[object] = []
    worker.submit(
        lambda context: threads.append(threading.current_thread().name),
        lambda outcome: threads.append(QThread.currentThread().isMainThread()),
    )

    qtbot.waitUntil(lambda: len(threads) == 2)
    assert threads == ["gptviz-test_0", True]


def test_all_jobs_run_in_one_thread(worker: Worker, qtbot: QtBot) -> None:
    names: list[str] = []
    for count in (1, 2, 3):
        worker.submit(lambda context: names.append(threading.current_thread().name), lambda outcome: None)
        qtbot.waitUntil(lambda count=count: len(names) == count)

    assert len(set(names)) == 1


def test_the_context_is_there_while_the_job_is(worker: Worker, qtbot: QtBot) -> None:
    assert worker.context is None

    worker.submit(until_cancelled, lambda outcome: None)
    assert worker.context is not None

    worker.cancel()
    qtbot.waitUntil(lambda: worker.context is None)


def test_the_next_job_may_be_submitted_when_one_has_ended(
    worker: Worker, outcomes: list[Outcome], qtbot: QtBot
) -> None:
    worker.submit(returning(1), lambda outcome: worker.submit(returning(2), outcomes.append))

    qtbot.waitUntil(lambda: outcomes != [])
    assert outcomes[0].result == 2


def test_closing_during_a_job_ends_the_thread_and_delivers_nothing(qapp: QApplication) -> None:
    worker = Worker("closed")
    begun, cancelled = threading.Event(), []

    def until_cancelled(context: JobContext) -> None:
        begun.set()
        cancelled.append(context.cancel.wait(60))

    worker.submit(until_cancelled, lambda outcome: pytest.fail(f"delivered {outcome}"))
    assert begun.wait(60)

    worker.close()

    assert cancelled == [True]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gptviz-closed")]
    qapp.processEvents()


def test_closing_drops_a_result_that_was_ready(qapp: QApplication) -> None:
    worker = Worker("closed")
    done = threading.Event()
    worker.submit(lambda context: done.set(), lambda outcome: pytest.fail(f"delivered {outcome}"))
    assert done.wait(60)

    worker.close()

    qapp.processEvents()


def test_a_closed_worker_takes_no_job(qapp: QApplication) -> None:
    worker = Worker("closed")
    worker.close()

    worker.submit(lambda context: pytest.fail("ran"), lambda outcome: pytest.fail("delivered"))

    assert worker.context is None
    qapp.processEvents()


def test_what_a_job_tells_arrives_in_the_gui_thread_before_its_end(worker: Worker, qtbot: QtBot) -> None:
    heard: list[object] = []

    def talkative(context: JobContext) -> None:
        context.tell("first")
        context.tell("second")

    worker.submit(
        talkative,
        lambda outcome: heard.append("end"),
        lambda told: heard.append((told, QThread.currentThread().isMainThread())),
    )

    qtbot.waitUntil(lambda: "end" in heard)
    assert heard == [("first", True), ("second", True), "end"]


def test_what_a_replaced_job_told_is_dropped(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    told = threading.Event()

    def talkative(context: JobContext) -> None:
        context.tell("stale")
        told.set()

    worker.submit(talkative, outcomes.append, lambda what: pytest.fail(f"heard {what}"))
    assert told.wait(60)
    worker.submit(returning("second"), outcomes.append, lambda what: pytest.fail(f"heard {what}"))

    qtbot.waitUntil(lambda: outcomes != [])
    assert [outcome.result for outcome in outcomes] == ["second"]


def test_a_cancel_wakes_a_job_that_waits(worker: Worker, outcomes: list[Outcome], qtbot: QtBot) -> None:
    woken = threading.Event()
    ready = threading.Event()

    def waiting(context: JobContext) -> None:
        context.wake = woken.set
        ready.set()
        assert woken.wait(60)
        context.report("went on")

    worker.submit(waiting, outcomes.append)
    assert ready.wait(60)
    worker.cancel()

    qtbot.waitUntil(lambda: outcomes != [])
    assert outcomes[0].cancelled


def test_a_job_reports_what_it_is_at() -> None:
    context = JobContext(lambda told: None)

    context.report("half way", 0.5)

    assert (context.text, context.fraction) == ("half way", 0.5)


def test_reporting_after_a_cancel_ends_the_job() -> None:
    context = JobContext(lambda told: None)
    context.cancel.set()

    with pytest.raises(Cancelled):
        context.report("went on")
    assert context.text is None
