"""Generating with kept keys and values gives what generating without them gives."""

import pytest
import torch
from torch import Tensor

from gptviz.model import TINY, GPTModel, InputError, greedy_steps
from gptviz.model.cached import KeyValueCache, cached_logits

HELLO = torch.tensor([[15496, 11, 314, 716]])


def text(model: GPTModel, prompt: Tensor, count: int) -> Tensor:
    steps = [step.next_ids for step in greedy_steps(model, prompt, count)]
    return torch.cat([prompt, *steps], dim=1)


def test_the_logits_are_those_of_the_whole_pass(tiny_model: GPTModel) -> None:
    ids, cache = text(tiny_model, HELLO, 30), KeyValueCache(tiny_model)

    for end in range(4, 34):
        logits, computed = cached_logits(ids[:, :end], cache)

        assert computed == (4 if end == 4 else 1)
        assert logits.shape == (1, computed, TINY.vocab_size)
        torch.testing.assert_close(logits[:, -1], tiny_model(ids[:, :end])[:, -1], rtol=1e-5, atol=1e-5)


def test_the_same_tokens_are_chosen_also_past_the_context(tiny_model: GPTModel) -> None:
    prompt, cache = torch.full((1, TINY.context_length - 5), 262), KeyValueCache(tiny_model)
    ids = text(tiny_model, prompt, 12)

    chosen, computed = [], []
    for end in range(prompt.shape[1], ids.shape[1]):
        logits, count = cached_logits(ids[:, :end][:, -TINY.context_length :], cache)
        chosen.append(int(logits[0, -1].argmax()))
        computed.append(count)

    assert chosen == ids[0, prompt.shape[1] :].tolist()
    assert computed == [59, 1, 1, 1, 1, 1, 64, 64, 64, 64, 64, 64]


def test_past_the_context_nothing_that_was_kept_is_used(tiny_model: GPTModel) -> None:
    ids, cache = torch.arange(TINY.context_length + 1)[None], KeyValueCache(tiny_model)
    cached_logits(ids[:, :-1], cache)

    logits, _ = cached_logits(ids[:, 1:], cache)

    assert torch.equal(logits, tiny_model(ids[:, 1:]))


def test_the_cache_knows_what_it_holds(tiny_model: GPTModel) -> None:
    cache = KeyValueCache(tiny_model)
    assert (cache.shape, cache.nbytes) == ((2, 1, 2, 0, 16), 0)

    cached_logits(HELLO, cache)

    assert cache.shape == (2, 1, 2, 4, 16)
    assert cache.nbytes == 2 * (2 * 1 * 2 * 4 * 16) * 4  # keys and values, four bytes each
    attention = tiny_model.trf_blocks[0].att
    kept: list[Tensor] = []
    handles = [
        part.register_forward_hook(lambda *args: kept.append(args[2])) for part in (attention.keys, attention.values)
    ]
    tiny_model(HELLO)
    for handle in handles:
        handle.remove()
    assert torch.equal(cache.keys[0, :, :, :4], kept[0])
    assert torch.equal(cache.values[0, :, :, :4], kept[1])


def test_another_text_is_computed_from_its_beginning(tiny_model: GPTModel) -> None:
    cache = KeyValueCache(tiny_model)
    cached_logits(HELLO, cache)
    other = torch.tensor([[15496, 11, 340, 716, 257]])

    logits, computed = cached_logits(other, cache)

    assert computed == 5
    assert torch.equal(logits, tiny_model(other))


def test_a_pass_that_was_stopped_leaves_nothing_half_done(tiny_model: GPTModel) -> None:
    cache = KeyValueCache(tiny_model)
    cached_logits(HELLO, cache)
    longer = torch.cat((HELLO, torch.tensor([[257]])), dim=1)

    def stop(layer: int) -> None:
        if layer == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached_logits(longer, cache, stop)
    logits, computed = cached_logits(longer, cache)

    assert computed == 5
    assert torch.equal(logits, tiny_model(longer))


def test_hooks_see_the_one_token(own_tiny_model: GPTModel) -> None:
    cache, seen = KeyValueCache(own_tiny_model), []
    cached_logits(HELLO, cache)
    own_tiny_model.trf_blocks[1].att.weights.register_forward_hook(lambda *args: seen.append(tuple(args[2].shape)))

    cached_logits(torch.cat((HELLO, torch.tensor([[257]])), dim=1), cache)

    assert seen == [(1, 2, 1, 5)]


def test_more_tokens_than_the_context_are_refused(tiny_model: GPTModel) -> None:
    with pytest.raises(InputError, match="65 tokens are more than the model's context of 64"):
        cached_logits(torch.zeros(1, 65, dtype=torch.int64), KeyValueCache(tiny_model))
