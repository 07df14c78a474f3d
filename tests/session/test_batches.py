"""Batches: several prompts of equal token count in one pass."""

import torch
from holding import Wait

from gptviz.model import GPTModel
from gptviz.session.session import Session


def batch(session: Session, wait: Wait, *texts: str) -> None:
    """Run ``texts`` as the rows of a batch."""
    session.set_prompt(texts[0])
    for row, text in enumerate(texts[1:], start=1):
        if row >= len(session.state.prompts):
            session.add_prompt()
        session.set_prompt(text, row)
    session.run()
    wait()


def test_rows_go_through_the_model_together(ready: Session, wait: Wait, tiny_model: GPTModel) -> None:
    batch(ready, wait, "Every effort moves you", "Every day holds a")

    trace = ready.state.trace
    assert trace is not None
    assert trace.ids.tolist() == [[6109, 3626, 6100, 345], [6109, 1110, 6622, 257]]
    assert trace.record("tok_emb").output_shape == (2, 4, 32)
    with torch.no_grad():
        assert torch.equal(trace["out_head"], tiny_model(trace.ids))


def test_the_tokens_shown_are_those_of_the_chosen_row(ready: Session, wait: Wait) -> None:
    batch(ready, wait, "Every effort moves you", "Every day holds a")
    ready.select(row=1)

    assert [piece.text for piece in ready.state.trace_pieces] == ["Every", " day", " holds", " a"]


def test_unequal_counts_are_refused_with_the_counts(ready: Session, wait: Wait) -> None:
    before = ready.state.trace
    batch(ready, wait, "Hello, I am", "Hello")

    assert ready.state.message is not None
    assert "4 and 1 tokens" in str(ready.state.message)
    assert ready.state.trace is before


def test_an_empty_row_is_refused(ready: Session, wait: Wait) -> None:
    batch(ready, wait, "Hello, I am", "")

    assert ready.state.message is not None
    assert "empty" in str(ready.state.message)


def test_a_new_row_begins_as_a_copy_so_that_it_can_run_at_once(ready: Session, wait: Wait) -> None:
    ready.add_prompt()
    ready.run()
    wait()

    assert ready.state.prompts == ("Hello, I am", "Hello, I am")
    assert ready.state.trace is not None
    assert ready.state.trace.batch == 2


def test_a_row_is_removed_and_the_selection_stays_in_range(ready: Session, wait: Wait) -> None:
    batch(ready, wait, "Every effort moves you", "Every day holds a")
    ready.select(row=1)
    ready.remove_prompt(1)
    ready.run()
    wait()

    assert ready.state.prompts == ("Every effort moves you",)
    assert ready.state.selection.row == 0


def test_the_first_row_cannot_be_removed(ready: Session) -> None:
    ready.remove_prompt(0)

    assert ready.state.prompts == ("Hello, I am",)


def test_checks_hold_on_a_batch(ready: Session, wait: Wait) -> None:
    batch(ready, wait, "Every effort moves you", "Every day holds a")
    ready.checking.check_causality()
    wait()

    assert ready.state.checks.broken == ()
