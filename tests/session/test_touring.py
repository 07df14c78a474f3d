"""The tour as a person goes through it, without a window."""

from pytestqt.qtbot import QtBot

from gptviz.session.session import Session
from gptviz.tour.steps import steps


def test_forward_back_and_leave_at_any_time(session: Session) -> None:
    tour = session.tour
    assert not tour.state.on

    tour.open()
    assert tour.step is steps()[0]
    tour.back()
    assert tour.state.place == 0
    for _ in range(3):
        tour.forward()
    assert tour.step is steps()[3]

    tour.leave()
    tour.forward()
    assert not tour.state.on
    tour.open()
    assert tour.state.place == 3


def test_after_the_last_step_it_ends_and_begins_anew(session: Session) -> None:
    session.tour.open()
    session.tour.go(999)
    assert session.tour.step is steps()[-1]

    session.tour.forward()
    assert not session.tour.state.on
    session.tour.open()
    assert session.tour.state.place == 0


def test_a_place_of_an_earlier_version_is_brought_into_range(session: Session) -> None:
    session.tour.restore(999)
    session.tour.open()
    assert session.tour.step is steps()[-1]


def test_figures_are_computed_by_the_worker_and_anew_for_another_model(ready: Session, qtbot: QtBot) -> None:
    assert ready.tour.state.measured is None
    ready.tour.open()
    qtbot.waitUntil(lambda: ready.tour.state.measured is not None)
    measured = ready.tour.state.measured
    assert measured is not None
    assert measured["parameters.total"] == 3_243_776


def place_of_a_question() -> int:
    return next(place for place, step in enumerate(steps()) if step.ask is not None)


def test_questions_are_asked_only_if_wanted(ready: Session) -> None:
    ready.tour.open()
    ready.tour.go(place_of_a_question())
    assert ready.tour.question is None

    ready.set_option(predict_first=True)
    assert ready.tour.asking
    ready.tour.go(0)
    assert ready.tour.question is None


def test_an_answer_stays_until_the_next_pass(ready: Session, qtbot: QtBot) -> None:
    ready.set_option(predict_first=True)
    ready.tour.open()
    place = place_of_a_question()
    ready.tour.go(place)
    first = ready.tour.question

    ready.tour.answer(2)
    assert not ready.tour.asking
    ready.tour.forward()
    ready.tour.back()
    assert ready.tour.state.answers[place] == 2
    assert ready.tour.question == first

    ready.set_prompt("One two three four five")
    ready.run()
    qtbot.waitUntil(lambda: not ready.busy and ready.tour.asking)
    again = ready.tour.question
    assert first is not None
    assert again is not None
    assert {answer.text for answer in again.answers}.isdisjoint({first.answers[first.right].text})


def test_what_the_greedy_loop_appends_does_not_take_an_answer_back(ready: Session, qtbot: QtBot) -> None:
    ready.set_option(predict_first=True)
    ready.tour.open()
    ready.tour.go(next(place for place, step in enumerate(steps()) if step.ask == "next_context"))
    asked = ready.tour.question
    ready.tour.answer(1)

    for count in (1, 2):
        ready.loop.step()
        qtbot.waitUntil(lambda count=count: len(ready.state.generation.steps) == count and not ready.busy)
        assert not ready.tour.asking
        assert ready.tour.question == asked

    ready.run()
    qtbot.waitUntil(lambda: not ready.busy and ready.tour.asking)


def test_the_answers_stand_in_another_order_after_each_run(ready: Session, qtbot: QtBot) -> None:
    ready.set_option(predict_first=True)
    ready.tour.open()
    ready.tour.go(place_of_a_question())
    orders = set()
    for _ in range(6):
        before = ready.state.trace
        ready.run()
        qtbot.waitUntil(lambda before=before: not ready.busy and ready.state.trace is not before)
        assert ready.tour.question is not None
        orders.add(tuple(answer.text for answer in ready.tour.question.answers))
    assert len(orders) > 1
