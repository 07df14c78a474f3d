import pytest
import torch
from torch import Tensor

from gptviz.model import TINY, GPTModel, InputError, greedy_steps

IDS = torch.tensor([[15496, 11, 314, 716]])


@torch.no_grad()
def greedy_by_hand(model: GPTModel, ids: Tensor, n: int) -> Tensor:
    for _ in range(n):
        best = model(ids[:, -TINY.context_length :])[:, -1].max(dim=-1).indices
        ids = torch.cat([ids, best[:, None]], dim=1)
    return ids


def test_each_step_appends_the_most_likely_token(tiny_model: GPTModel) -> None:
    chosen = [step.next_ids for step in greedy_steps(tiny_model, IDS, 5)]

    assert torch.equal(torch.cat([IDS, *chosen], dim=1), greedy_by_hand(tiny_model, IDS, 5))


def test_a_batch_is_continued_text_by_text(tiny_model: GPTModel) -> None:
    batch = torch.tensor([[15496, 11], [40, 716]])

    chosen = [step.next_ids for step in greedy_steps(tiny_model, batch, 3)]

    assert torch.equal(torch.cat([batch, *chosen], dim=1), greedy_by_hand(tiny_model, batch, 3))


def test_a_step_holds_what_the_model_saw_and_the_logits_of_its_last_position(tiny_model: GPTModel) -> None:
    first, second = greedy_steps(tiny_model, IDS, 2)

    assert torch.equal(first.context, IDS)
    assert torch.equal(second.context, torch.cat([IDS, first.next_ids], dim=1))
    assert torch.equal(second.logits, tiny_model(second.context)[:, -1])
    assert second.next_ids.item() == second.logits.argmax().item()


def test_steps_are_computed_one_at_a_time(own_tiny_model: GPTModel) -> None:
    passes: list[int] = []
    own_tiny_model.register_forward_hook(lambda *_: passes.append(1))
    steps = greedy_steps(own_tiny_model, IDS, 1_000_000)

    next(steps)
    assert len(passes) == 1
    next(steps)
    assert len(passes) == 2


def test_the_model_sees_the_last_tokens_when_there_are_more_than_its_context(tiny_model: GPTModel) -> None:
    ids = torch.arange(TINY.context_length + 3)[None]

    (step,) = greedy_steps(tiny_model, ids, 1)

    assert torch.equal(step.context, ids[:, 3:])


def test_the_context_grows_up_to_its_length_and_then_moves_on(tiny_model: GPTModel) -> None:
    ids = torch.arange(TINY.context_length - 1)[None]

    before, full, moved = greedy_steps(tiny_model, ids, 3)

    assert [step.context.shape[1] for step in (before, full, moved)] == [63, 64, 64]
    assert torch.equal(moved.context[:, :-1], full.context[:, 1:])
    assert torch.equal(moved.context[:, -1:], full.next_ids)


def test_no_gradient_is_recorded(tiny_model: GPTModel) -> None:
    (step,) = greedy_steps(tiny_model, IDS, 1)

    assert not step.logits.requires_grad


def test_gradients_are_on_again_between_the_steps(tiny_model: GPTModel) -> None:
    steps = greedy_steps(tiny_model, IDS, 2)

    next(steps)

    assert torch.is_grad_enabled()


def test_the_callers_ids_stay_as_they_are(tiny_model: GPTModel) -> None:
    ids = IDS.clone()

    list(greedy_steps(tiny_model, ids, 2))

    assert torch.equal(ids, IDS)


def test_no_new_tokens_are_no_steps(tiny_model: GPTModel) -> None:
    assert list(greedy_steps(tiny_model, IDS, 0)) == []


def test_a_negative_number_of_tokens_is_refused(tiny_model: GPTModel) -> None:
    with pytest.raises(InputError, match="must be at least 0, but is -1"):
        list(greedy_steps(tiny_model, IDS, -1))


def test_an_empty_text_cannot_be_continued(tiny_model: GPTModel) -> None:
    with pytest.raises(InputError, match="there are no tokens"):
        next(greedy_steps(tiny_model, torch.empty(1, 0, dtype=torch.int64), 1))


@pytest.mark.parametrize("outside", [-1, TINY.vocab_size])
def test_an_id_outside_the_vocabulary_cannot_be_continued(tiny_model: GPTModel, outside: int) -> None:
    with pytest.raises(InputError, match=f"token ID {outside} is outside"):
        next(greedy_steps(tiny_model, torch.tensor([[outside]]), 1))
