"""Generation: crop, forward, last position, argmax or another choice, append, again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gptviz.model.gpt import GPTModel, InputError

Choice = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class GreedyStep:
    """One turn of the loop."""

    context: Tensor  # (B, T) the IDs that the model saw
    logits: Tensor  # (B, V) of the last position
    next_ids: Tensor  # (B, 1) the chosen token


def crop(ids: Tensor, context_length: int) -> Tensor:
    """Keep the last ``context_length`` tokens of ``ids`` (B, T): all that the model can see."""
    return ids[:, -context_length:]


def last_logits(logits: Tensor) -> Tensor:
    """Logits of the last position: (B, T, V) → (B, V)."""
    return logits[:, -1, :]


def greedy_choice(last: Tensor) -> Tensor:
    """Choose the token with the largest logit: (B, V) → (B, 1)."""
    return torch.argmax(last, dim=-1, keepdim=True)


@torch.no_grad()
def greedy_step(model: GPTModel, ids: Tensor) -> GreedyStep:
    """Run the model once on the end of ``ids`` (B, T) and choose the next token."""
    context = crop(ids, model.config.context_length)
    logits = last_logits(model(context))  # (B, T, V) → (B, V)
    return GreedyStep(context, logits, greedy_choice(logits))


def greedy_steps(
    model: GPTModel, ids: Tensor, max_new_tokens: int, choice: Choice = greedy_choice
) -> Iterator[GreedyStep]:
    """Yield ``max_new_tokens`` steps, each with the tokens chosen so far appended to ``ids`` (B, T).

    Another ``choice`` than the greedy one makes of the last position's logits (B, V) the next IDs (B, 1).

    Raises
    ------
    InputError
        If ``max_new_tokens`` is negative, or ``ids`` does not fit the model.
    """
    if max_new_tokens < 0:
        raise InputError(f"the number of new tokens must be at least 0, but is {max_new_tokens}")
    for _ in range(max_new_tokens):
        step = greedy_step(model, ids)
        if choice is not greedy_choice:
            step = replace(step, next_ids=choice(step.logits))
        yield step
        ids = torch.cat((ids, step.next_ids), dim=1)  # (B, T) → (B, T + 1)
