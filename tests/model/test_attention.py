import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from torch.testing import assert_close

from gptviz.model import MultiHeadAttention

B, T, E, H = 2, 5, 12, 3


def by_pytorch(att: MultiHeadAttention, x: Tensor) -> Tensor:
    """The same attention by PyTorch's own fused operation."""

    def heads(projection: torch.nn.Linear) -> Tensor:
        return F.linear(x, projection.weight, projection.bias).unflatten(-1, (H, E // H)).transpose(1, 2)

    context = F.scaled_dot_product_attention(heads(att.W_query), heads(att.W_key), heads(att.W_value), is_causal=True)
    return F.linear(context.transpose(1, 2).flatten(2), att.out_proj.weight, att.out_proj.bias)


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize("tokens", [1, T])
def test_attention_is_pytorchs_causal_attention(qkv_bias: bool, tokens: int) -> None:
    torch.manual_seed(0)
    att = MultiHeadAttention(E, context_length=T, n_heads=H, qkv_bias=qkv_bias)
    x = torch.randn(B, tokens, E)

    assert_close(att(x), by_pytorch(att, x))


def test_query_key_and_value_have_no_bias_unless_asked_for() -> None:
    att = MultiHeadAttention(E, context_length=T, n_heads=H)

    assert {name for name, _ in att.named_parameters()} == {
        "W_query.weight",
        "W_key.weight",
        "W_value.weight",
        "out_proj.weight",
        "out_proj.bias",
    }


def test_a_token_does_not_see_those_after_it() -> None:
    att = MultiHeadAttention(E, context_length=T, n_heads=H)
    x = torch.randn(1, T, E)
    changed = x.clone()
    changed[:, 3] += 1.0

    unchanged_rows = (att(x) == att(changed)).all(dim=-1)[0]

    assert unchanged_rows.tolist() == [True, True, True, False, False]


def test_dropout_falls_on_the_weights_in_training_only() -> None:
    torch.manual_seed(0)
    att = MultiHeadAttention(E, context_length=T, n_heads=H, drop_rate=0.5)
    x = torch.randn(B, T, E)
    seen: list[Tensor] = []
    att.dropout.register_forward_hook(lambda _, args, out: seen.extend((args[0], out)))

    att.train()(x)
    att.eval()(x)
    weights, dropped, eval_weights, eval_dropped = seen

    assert set((dropped / weights.clamp(min=1e-9)).round(decimals=4).unique().tolist()) == {0.0, 2.0}
    assert torch.equal(eval_dropped, eval_weights)
