import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.testing import assert_close

from gptviz.model import TINY, GPTModel, InputError, TransformerBlock

IDS = torch.tensor([[15496, 11, 314, 716], [40, 716, 257, 2746]])


def block_by_pytorch(block: TransformerBlock, x: Tensor) -> Tensor:
    """The same block, of PyTorch's own operations alone."""
    w = dict(block.named_parameters())
    E, H = TINY.emb_dim, TINY.n_heads

    h = F.layer_norm(x, (E,), w["norm1.scale"], w["norm1.shift"])
    q, k, v = (
        F.linear(h, w[f"att.W_{name}.weight"]).unflatten(-1, (H, E // H)).transpose(1, 2)
        for name in ("query", "key", "value")
    )
    h = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    x = x + F.linear(h, w["att.out_proj.weight"], w["att.out_proj.bias"])

    h = F.layer_norm(x, (E,), w["norm2.scale"], w["norm2.shift"])
    h = F.gelu(F.linear(h, w["ff.layers.0.weight"], w["ff.layers.0.bias"]), approximate="tanh")
    return x + F.linear(h, w["ff.layers.2.weight"], w["ff.layers.2.bias"])


def test_a_block_is_pre_norm_attention_and_feed_forward_with_two_shortcuts() -> None:
    torch.manual_seed(0)
    block = TransformerBlock(TINY).eval()
    for norm in (block.norm1, block.norm2):
        nn.init.normal_(norm.scale)
        nn.init.normal_(norm.shift)
    x = torch.randn(2, 5, TINY.emb_dim)

    assert_close(block(x), block_by_pytorch(block, x))


def test_a_model_is_embeddings_blocks_final_norm_and_head(tiny_model: GPTModel) -> None:
    w = tiny_model.state_dict()

    x = F.embedding(IDS, w["tok_emb.weight"]) + w["pos_emb.weight"][: IDS.shape[1]]
    for block in tiny_model.trf_blocks:
        x = block_by_pytorch(block, x)
    x = F.layer_norm(x, (TINY.emb_dim,), w["final_norm.scale"], w["final_norm.shift"])

    assert_close(tiny_model(IDS), F.linear(x, w["out_head.weight"]))


@pytest.mark.parametrize(("batch", "tokens"), [(1, 1), (3, 2), (1, TINY.context_length)])
def test_every_position_gets_a_logit_for_every_token(tiny_model: GPTModel, batch: int, tokens: int) -> None:
    ids = torch.zeros(batch, tokens, dtype=torch.int64)

    assert tiny_model(ids).shape == (batch, tokens, TINY.vocab_size)


def test_changing_the_last_token_changes_no_earlier_logits(tiny_model: GPTModel) -> None:
    changed = IDS.clone()
    changed[:, -1] = 1

    before, after = tiny_model(IDS), tiny_model(changed)

    assert torch.equal(before[:, :-1], after[:, :-1])
    assert not torch.equal(before[:, -1], after[:, -1])


def test_the_texts_of_a_batch_do_not_touch_each_other(tiny_model: GPTModel) -> None:
    assert_close(tiny_model(IDS)[1:], tiny_model(IDS[1:]))


def test_dropout_acts_in_training_mode(own_tiny_model: GPTModel) -> None:
    model = own_tiny_model.train()

    assert not torch.equal(model(IDS), model(IDS))


def test_dropout_does_not_act_in_eval_mode(tiny_model: GPTModel) -> None:
    assert torch.equal(tiny_model(IDS), tiny_model(IDS))


def test_a_dropout_rate_of_zero_makes_training_mode_the_same() -> None:
    model = GPTModel(replace(TINY, drop_rate=0.0))

    assert torch.equal(model.train()(IDS), model.eval()(IDS))


def test_both_branches_of_a_block_go_through_dropout() -> None:
    block = TransformerBlock(TINY)
    block.drop_shortcut.register_forward_hook(lambda *_: torch.zeros(()))  # all is dropped
    x = torch.randn(2, 5, TINY.emb_dim)

    assert torch.equal(block(x), x)


@pytest.mark.parametrize("place", ["drop_emb", "trf_blocks.0.att.dropout", "trf_blocks.1.drop_shortcut"])
def test_each_dropout_acts_on_its_own(own_tiny_model: GPTModel, place: str) -> None:
    quiet = own_tiny_model(IDS)
    own_tiny_model.get_submodule(place).train()

    assert not torch.equal(own_tiny_model(IDS), quiet)


def test_the_parameters_have_the_chapters_names(tiny_model: GPTModel) -> None:
    block = [
        "att.W_query.weight",
        "att.W_key.weight",
        "att.W_value.weight",
        "att.out_proj.weight",
        "att.out_proj.bias",
        "ff.layers.0.weight",
        "ff.layers.0.bias",
        "ff.layers.2.weight",
        "ff.layers.2.bias",
        "norm1.scale",
        "norm1.shift",
        "norm2.scale",
        "norm2.shift",
    ]

    assert list(tiny_model.state_dict()) == [
        "tok_emb.weight",
        "pos_emb.weight",
        *(f"trf_blocks.0.{name}" for name in block),
        *(f"trf_blocks.1.{name}" for name in block),
        "final_norm.scale",
        "final_norm.shift",
        "out_head.weight",
    ]


def chapters_state_dict(model: GPTModel) -> dict[str, Tensor]:
    """The state dict of the chapter's model, which saves the causal mask of every block."""
    mask = torch.triu(torch.ones(TINY.context_length, TINY.context_length), diagonal=1)
    masks = {f"trf_blocks.{i}.att.mask": mask for i in range(TINY.n_layers)}
    return {**copy.deepcopy(model.state_dict()), **masks}


def test_a_state_dict_of_the_chapter_loads_strictly(tiny_model: GPTModel) -> None:
    model = GPTModel(TINY).eval()

    model.load_state_dict(chapters_state_dict(tiny_model), strict=True)

    assert torch.equal(model(IDS), tiny_model(IDS))


def test_loading_leaves_the_callers_state_dict_whole(tiny_model: GPTModel) -> None:
    state = chapters_state_dict(tiny_model)
    names = list(state)

    GPTModel(TINY).load_state_dict(state)

    assert list(state) == names


def test_a_state_dict_with_foreign_weights_is_still_refused(tiny_model: GPTModel) -> None:
    state = {**tiny_model.state_dict(), "trf_blocks.0.att.extra": torch.zeros(1)}

    with pytest.raises(RuntimeError, match=r"trf_blocks\.0\.att\.extra"):
        GPTModel(TINY).load_state_dict(state)


def test_head_and_embedding_are_two_tensors_by_default(tiny_model: GPTModel) -> None:
    assert not torch.equal(tiny_model.out_head.weight, tiny_model.tok_emb.weight)


def test_a_tied_head_is_the_embeddings_tensor() -> None:
    model = GPTModel(replace(TINY, tie_weights=True))

    assert model.out_head.weight is model.tok_emb.weight


@pytest.mark.parametrize("shape", [(1, 0), (0, 4)])
def test_no_tokens_are_refused(tiny_model: GPTModel, shape: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="there are no tokens"):
        tiny_model(torch.empty(shape, dtype=torch.int64))


def test_more_tokens_than_the_context_are_refused_with_both_numbers(tiny_model: GPTModel) -> None:
    with pytest.raises(InputError, match=r"^67 tokens are more than the model's context of 64: leave out 3$"):
        tiny_model(torch.zeros(1, 67, dtype=torch.int64))


@pytest.mark.parametrize("outside", [-1, 50257])
def test_an_id_outside_the_vocabulary_is_refused_by_number(tiny_model: GPTModel, outside: int) -> None:
    with pytest.raises(InputError, match=f"^token ID {outside} is outside the vocabulary, which goes from 0 to 50256$"):
        tiny_model(torch.tensor([[15496, outside, 11]]))


@pytest.mark.parametrize("edge", [0, 50256])
def test_the_first_and_the_last_id_of_the_vocabulary_are_accepted(tiny_model: GPTModel, edge: int) -> None:
    assert tiny_model(torch.tensor([[edge]])).isfinite().all()


def test_ids_without_a_batch_dimension_are_refused(tiny_model: GPTModel) -> None:
    with pytest.raises(InputError, match=r"shape \(batch, tokens\), but have \(4,\)"):
        tiny_model(IDS[0])


def test_ids_that_are_no_whole_numbers_are_refused(tiny_model: GPTModel) -> None:
    with pytest.raises(InputError, match=r"whole numbers \(int64\), but are torch\.float32"):
        tiny_model(IDS.float())
