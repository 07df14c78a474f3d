"""Every stage against a second computation from the state dict, by plain torch alone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from torch.testing import assert_close

from gptviz.capture import Trace, capture
from gptviz.model import TINY, GPTModel, initialise

E, H = TINY.emb_dim, TINY.n_heads
D = E // H


def recomputed(w: dict[str, Tensor], ids: Tensor) -> dict[str, Tensor]:
    """All stages of a tiny model with the weights ``w``, in eval mode."""
    s = {"ids": ids}
    s["tok_emb"] = w["tok_emb.weight"][ids]
    s["pos_emb"] = w["pos_emb.weight"][: ids.shape[1]]
    s["embeddings"] = s["tok_emb"] + s["pos_emb"]
    x = s["drop_emb"] = s["embeddings"]
    for layer in range(TINY.n_layers):
        prefix = f"trf_blocks.{layer}."
        inside = dict(block_stages(under(w, prefix), x))
        s.update({prefix + name: tensor for name, tensor in inside.items()})
        x = inside["shortcut2"]
    s["final_norm"] = F.layer_norm(x, (E,), w["final_norm.scale"], w["final_norm.shift"])
    s["out_head"] = F.linear(s["final_norm"], w["out_head.weight"])
    s["last"] = s["out_head"][:, -1]
    s["next"] = s["last"].argmax(dim=-1)[:, None]
    return s


def block_stages(w: dict[str, Tensor], x: Tensor) -> Iterator[tuple[str, Tensor]]:
    """The stages of one block with the weights ``w`` for the input ``x`` (B, T, E)."""
    T = x.shape[1]

    def split(projection: Tensor) -> Tensor:
        return torch.stack(projection.split(D, dim=-1), dim=1)  # (B, T, E) → (B, H, T, D)

    norm1 = F.layer_norm(x, (E,), w["norm1.scale"], w["norm1.shift"])
    yield "norm1", norm1
    q, k, v = (F.linear(norm1, w[f"att.W_{name}.weight"]) for name in ("query", "key", "value"))
    yield from (("att.W_query", q), ("att.W_key", k), ("att.W_value", v))
    queries, keys, values = split(q), split(k), split(v)
    yield from (("att.queries", queries), ("att.keys", keys), ("att.values", values))
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
    yield "att.scores", scores
    yield "att.scaled", scores / 4.0  # √16
    masked = (scores / 4.0).masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)
    yield "att.masked", masked
    weights = masked.softmax(dim=-1)
    yield "att.weights", weights
    yield "att.dropout", weights
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    yield "att.context", context
    merged = torch.cat(context.unbind(dim=1), dim=-1)  # (B, H, T, D) → (B, T, E)
    yield "att.merged", merged
    out = F.linear(merged, w["att.out_proj.weight"], w["att.out_proj.bias"])
    yield "att.out_proj", out
    yield "drop_shortcut1", out
    shortcut1 = out + x
    yield "shortcut1", shortcut1
    norm2 = F.layer_norm(shortcut1, (E,), w["norm2.scale"], w["norm2.shift"])
    yield "norm2", norm2
    wide = F.linear(norm2, w["ff.layers.0.weight"], w["ff.layers.0.bias"])
    yield "ff.layers.0", wide
    bent = F.gelu(wide, approximate="tanh")
    yield "ff.layers.1", bent
    narrow = F.linear(bent, w["ff.layers.2.weight"], w["ff.layers.2.bias"])
    yield "ff.layers.2", narrow
    yield "drop_shortcut2", narrow
    yield "shortcut2", narrow + shortcut1


def under(w: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in w.items() if name.startswith(prefix)}


@pytest.fixture(scope="module")
def expected(tiny_model: GPTModel, ids: Tensor) -> dict[str, Tensor]:
    return recomputed(tiny_model.state_dict(), ids)


NAMES = list(recomputed(GPTModel(TINY).state_dict(), torch.zeros(1, 1, dtype=torch.int64)))


@pytest.mark.parametrize("name", NAMES)
def test_a_stage_is_what_plain_torch_computes(trace: Trace, expected: dict[str, Tensor], name: str) -> None:
    assert_close(trace[name], expected[name])


def test_no_stage_is_left_out_of_the_comparison(trace: Trace) -> None:
    assert list(trace.names) == NAMES


def test_the_logits_are_what_the_model_returns(trace: Trace, tiny_model: GPTModel, ids: Tensor) -> None:
    assert torch.equal(trace["out_head"], tiny_model(ids))


def training_trace(drop_rate: float, ids: Tensor) -> Trace:
    return capture(initialise(replace(TINY, drop_rate=drop_rate), 123).train(), ids, budget=2**30)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("embeddings", "drop_emb"),
        ("trf_blocks.1.att.weights", "trf_blocks.1.att.dropout"),
        ("trf_blocks.1.att.out_proj", "trf_blocks.1.drop_shortcut1"),
        ("trf_blocks.1.ff.layers.2", "trf_blocks.1.drop_shortcut2"),
    ],
)
def test_dropout_in_training_is_shown_as_it_fell(ids: Tensor, before: str, after: str) -> None:
    trace = training_trace(0.5, ids)
    whole, dropped = trace[before], trace[after]

    assert 0 < (dropped == 0).sum() < dropped.numel()
    assert_close(dropped, torch.where(dropped == 0, 0.0, 2 * whole))


def test_in_training_the_shortcut_adds_what_dropout_left(ids: Tensor) -> None:
    trace = training_trace(0.5, ids)

    assert_close(trace["trf_blocks.0.shortcut1"], trace["drop_emb"] + trace["trf_blocks.0.drop_shortcut1"])
    assert_close(
        trace["trf_blocks.0.shortcut2"], trace["trf_blocks.0.shortcut1"] + trace["trf_blocks.0.drop_shortcut2"]
    )
