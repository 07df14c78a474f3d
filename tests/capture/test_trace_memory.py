"""How much memory a trace takes: estimated before, and measured after."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from gptviz.capture import Trace, block_bytes, blocks_within, capture
from gptviz.model import GPT2_SMALL, TINY, GPTModel

ROOMY = 2**30


def zeros(B: int, T: int) -> Tensor:
    return torch.zeros(B, T, dtype=torch.int64)


def test_tensors_that_share_memory_count_once(trace: Trace) -> None:
    x = torch.zeros(4, 8)  # 128 bytes
    shared = {"embeddings": x, "drop_emb": x, "last": x[:, -1], "next": x.view(8, 4)}

    assert replace(trace, kept=shared).nbytes == 128
    assert replace(trace, kept={**shared, "ids": torch.zeros(4, 8)}).nbytes == 256


def test_a_replayed_block_and_digests_count_too(trace: Trace) -> None:
    bare = replace(trace, kept={"ids": torch.zeros(2, dtype=torch.int64)})
    assert bare.nbytes == 16

    assert replace(bare, replayed={"trf_blocks.0.norm1": torch.zeros(3)}).nbytes == 16 + 12
    assert replace(bare, digests={"trf_blocks.0.norm1": torch.zeros(5).numpy()}).nbytes == 16 + 20


def bytes_inside_a_block(model: GPTModel, B: int, T: int) -> float:
    lean, roomy = (capture(model, zeros(B, T), budget=budget) for budget in (0, ROOMY))
    return (roomy.nbytes - lean.nbytes) / TINY.n_layers


@pytest.mark.parametrize(("B", "T"), [(1, 2), (1, 4), (2, 3), (3, 64)])
def test_the_estimate_of_a_block_is_what_its_inside_takes(tiny_model: GPTModel, B: int, T: int) -> None:
    assert bytes_inside_a_block(tiny_model, B, T) == block_bytes(TINY, B, T)


@pytest.mark.parametrize("B", [1, 3])
def test_a_block_takes_a_row_less_for_one_token_whose_heads_are_merged_without_a_copy(
    tiny_model: GPTModel, B: int
) -> None:
    one_row = B * TINY.emb_dim * 4

    assert bytes_inside_a_block(tiny_model, B, 1) == block_bytes(TINY, B, 1) - one_row


def test_a_long_text_takes_more_for_its_attention_maps_than_for_its_features() -> None:
    maps = 4 * 12 * 1024 * 1024 * 4  # four maps, twelve heads, T x T floats of four bytes

    assert maps < block_bytes(GPT2_SMALL, 1, 1024) < 2 * maps


def test_the_budget_is_spent_on_whole_blocks() -> None:
    one = block_bytes(TINY, 2, 3)

    assert [blocks_within(budget, TINY, 2, 3) for budget in (0, one - 1, one, 2 * one - 1, 2 * one)] == [0, 0, 1, 1, 2]


def test_no_more_blocks_are_kept_than_there_are() -> None:
    assert blocks_within(ROOMY, TINY, 2, 3) == 2


def test_a_negative_budget_keeps_no_block() -> None:
    assert blocks_within(-1, TINY, 2, 3) == 0
