"""What each part of the model contributed, compared with sums that torch's own hooks give on a plain model."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from gptviz.analysis.attribution import (
    Attribution,
    Kind,
    StreamParts,
    by_size,
    logit_attribution,
    read_parts,
    stream_attribution,
)
from gptviz.analysis.operands import stream_stages
from gptviz.capture import Trace, capture
from gptviz.model import GPTModel

ROW, POSITION = 1, 3
Named = dict[str, float]


def named(attribution: Attribution | None, inner: bool = False) -> Named:
    """The shares by kind, block and head."""
    assert attribution is not None
    shares = [*attribution.shares, *(more for share in attribution.shares for more in share.inner if inner)]
    names = [" ".join(str(x) for x in (s.part.kind, s.part.layer, s.part.head) if x is not None) for s in shares]
    assert len(set(names)) == len(names)
    return dict(zip(names, (share.value for share in shares), strict=True))


def hooked(model: GPTModel, ids: Tensor) -> dict[str, Tensor]:
    """What the parts of a plain model gave, by module path, and what each head gives out_proj alone; (B, T, E)."""
    found: dict[str, Tensor] = {}
    handles = []

    def keep(path: str) -> Callable[..., None]:
        return lambda module, args, output: found.update({path: output.double()})

    def keep_heads(path: str) -> Callable[..., None]:
        def hook(module: torch.nn.Linear, args: tuple[Tensor]) -> None:
            (merged,) = args
            size, weight = model.config.head_dim, module.weight.double()
            for head in range(model.config.n_heads):
                alone = torch.zeros_like(merged, dtype=torch.float64)
                alone[..., head * size : (head + 1) * size] = merged[..., head * size : (head + 1) * size]
                found[f"{path} {head}"] = torch.nn.functional.linear(alone, weight)

        return hook

    for path, module in model.named_modules():
        if path.endswith((".att", ".ff")) or path in ("tok_emb", "pos_emb"):
            handles.append(module.register_forward_hook(keep(path)))
        if path.endswith("att.out_proj"):
            handles.append(module.register_forward_pre_hook(keep_heads(path)))
    with torch.no_grad():
        model(ids)
    for handle in handles:
        handle.remove()
    return found


def expected_vectors(model: GPTModel, ids: Tensor, row: int, position: int, inner: bool = False) -> dict[str, Tensor]:
    """The addends (E,) of the stream under the names of ``named``, in execution order."""
    found = hooked(model, ids)
    vectors = {"token embedding": found["tok_emb"][row, position], "position embedding": found["pos_emb"][position]}
    for layer, block in enumerate(model.trf_blocks):
        vectors[f"attention {layer}"] = found[f"trf_blocks.{layer}.att"][row, position]
        vectors[f"feed-forward {layer}"] = found[f"trf_blocks.{layer}.ff"][row, position]
        for head in range(model.config.n_heads if inner else 0):
            vectors[f"head {layer} {head}"] = found[f"trf_blocks.{layer}.att.out_proj {head}"][row, position]
        if inner:
            vectors[f"bias {layer}"] = block.att.out_proj.bias.detach().double()
    return vectors


def lost(model: GPTModel, token: int, stream: Tensor, part: Tensor) -> float:
    """How much the logit of ``token`` falls when ``part`` is taken out of ``stream`` while the deviation stays."""
    norm = model.final_norm
    deviation = torch.sqrt(stream.var(unbiased=False) + norm.eps)

    def normed(x: Tensor) -> Tensor:
        return norm.scale.double() * (x - x.mean()) / deviation + norm.shift.double()

    with torch.no_grad():
        return float(model.out_head.weight[token].double() @ (normed(stream) - normed(stream - part)))


@pytest.fixture(scope="module")
def parts(trace: Trace) -> StreamParts:
    return read_parts(trace, ROW, POSITION)


@pytest.fixture(scope="module")
def vectors(taught_model: GPTModel, trace: Trace) -> dict[str, Tensor]:
    return expected_vectors(taught_model, trace.ids, ROW, POSITION, inner=True)


# --- a value of the residual stream ----------------------------------------------------------------------


@pytest.mark.parametrize("feature", [0, 17, 31])
def test_a_value_of_the_stream_is_what_the_modules_gave(
    parts: StreamParts, vectors: dict[str, Tensor], feature: int
) -> None:
    shares = named(stream_attribution(parts, "trf_blocks.1.shortcut2", feature), inner=True)

    assert shares == {name: pytest.approx(float(vector[feature]), abs=1e-6) for name, vector in vectors.items()}


@pytest.mark.parametrize(
    ("stage", "names"),
    [
        ("embeddings", ["token embedding", "position embedding"]),
        ("drop_emb", ["token embedding", "position embedding"]),
        ("trf_blocks.0.shortcut1", ["token embedding", "position embedding", "attention 0"]),
        ("trf_blocks.0.shortcut2", ["token embedding", "position embedding", "attention 0", "feed-forward 0"]),
        (
            "trf_blocks.1.shortcut1",
            ["token embedding", "position embedding", "attention 0", "feed-forward 0", "attention 1"],
        ),
    ],
)
def test_only_what_came_earlier_is_listed_in_execution_order(parts: StreamParts, stage: str, names: list[str]) -> None:
    assert list(named(stream_attribution(parts, stage, 5))) == names


def test_the_shares_add_up_to_the_captured_value_at_every_stage(trace: Trace, parts: StreamParts) -> None:
    for stage in stream_stages(trace.config):
        for feature in range(trace.config.emb_dim):
            found = stream_attribution(parts, stage, feature)
            assert found is not None
            assert found.captured == float(trace[stage][ROW, POSITION, feature])
            assert found.total == pytest.approx(found.captured, abs=1e-6)
            assert found.holds


def test_the_stages_of_the_stream_are_those_of_the_catalogue(trace: Trace) -> None:
    assert [name for name in trace.names if name in stream_stages(trace.config)] == list(stream_stages(trace.config))
    assert len(stream_stages(trace.config)) == 2 + 2 * trace.config.n_layers


def test_heads_and_bias_add_up_to_their_attention(parts: StreamParts) -> None:
    found = stream_attribution(parts, "trf_blocks.1.shortcut2", 3)
    assert found is not None

    opened = [share for share in found.shares if share.inner]
    assert [share.part.layer for share in opened] == [0, 1]
    for share in opened:
        assert [inner.part.kind for inner in share.inner] == [Kind.HEAD, Kind.HEAD, Kind.BIAS]
        assert sum(inner.value for inner in share.inner) == pytest.approx(share.value, abs=1e-6)


def test_each_share_names_the_stage_that_computed_it(trace: Trace, parts: StreamParts) -> None:
    found = stream_attribution(parts, "trf_blocks.0.shortcut2", 8)
    assert found is not None

    for share in found.shares:
        values = trace[share.part.stage]
        assert share.value == float(values[POSITION, 8] if values.dim() == 2 else values[ROW, POSITION, 8])


def test_a_block_that_is_not_kept_gives_the_same(lean: Trace, parts: StreamParts) -> None:
    again = read_parts(lean, ROW, POSITION)

    assert stream_attribution(again, "trf_blocks.1.shortcut1", 9) == stream_attribution(
        parts, "trf_blocks.1.shortcut1", 9
    )


def test_parts_can_be_read_bit_by_bit(lean: Trace) -> None:
    begun = StreamParts(ROW, POSITION).extended(lean).extended(lean)

    assert begun.blocks == 1
    assert stream_attribution(begun, "trf_blocks.0.shortcut2", 0) is not None
    assert stream_attribution(begun, "trf_blocks.1.shortcut1", 0) is None
    assert logit_attribution(lean, begun, 0) is None


def test_a_stage_that_is_no_stream_has_no_shares(parts: StreamParts) -> None:
    assert stream_attribution(parts, "trf_blocks.0.norm1", 0) is None


def test_active_dropout_is_a_part_of_its_own(own_tiny_model: GPTModel) -> None:
    torch.manual_seed(5)
    for module in own_tiny_model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    trace = capture(own_tiny_model.train(), torch.tensor([[15496, 11, 314]]))
    parts = read_parts(trace, 0, 2)

    shares = named(stream_attribution(parts, "trf_blocks.0.shortcut1", 4))
    change = trace["trf_blocks.0.drop_shortcut1"][0, 2, 4] - trace["trf_blocks.0.att.out_proj"][0, 2, 4]
    assert shares["dropout 0"] == pytest.approx(float(change), abs=1e-6)
    assert shares["dropout"] == pytest.approx(float(trace["drop_emb"][0, 2, 4] - trace["embeddings"][0, 2, 4]))
    for feature in range(32):
        found = stream_attribution(parts, "trf_blocks.1.shortcut2", feature)
        assert found is not None
        assert found.holds


def test_a_stream_that_was_changed_on_its_way_is_told(trace: Trace, tampered: Callable[..., Trace]) -> None:
    wrong = tampered("trf_blocks.0.shortcut1", lambda tensor: tensor[ROW, POSITION, 7].add_(0.01))
    parts = read_parts(wrong, ROW, POSITION)

    found = stream_attribution(parts, "trf_blocks.0.shortcut1", 7)
    assert found is not None
    assert not found.holds
    assert found.difference == pytest.approx(0.01, abs=1e-6)


def test_a_value_that_is_no_number_never_holds(trace: Trace, tampered: Callable[..., Trace]) -> None:
    wrong = tampered("trf_blocks.1.ff.layers.2", lambda tensor: tensor[..., 7].fill_(float("inf")))
    parts = read_parts(wrong, ROW, POSITION)

    found = stream_attribution(parts, "trf_blocks.1.shortcut2", 7)
    assert found is not None
    assert not found.holds


# --- a logit ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [0, 15496, 50256])
def test_a_logit_loses_what_a_part_contributed_when_it_is_taken_out(
    trace: Trace, taught_model: GPTModel, parts: StreamParts, vectors: dict[str, Tensor], token: int
) -> None:
    stream = trace["trf_blocks.1.shortcut2"][ROW, POSITION].double()
    expected = {name: lost(taught_model, token, stream, vector) for name, vector in vectors.items()}
    shares = named(logit_attribution(trace, parts, token), inner=True)

    shift = shares.pop("final norm's shift")
    assert shares == {name: pytest.approx(value, abs=1e-5) for name, value in expected.items()}
    with torch.no_grad():
        assert shift == pytest.approx(float(taught_model.final_norm.shift @ taught_model.out_head.weight[token]), 1e-5)


def test_the_shares_of_a_logit_add_up_to_it(trace: Trace, parts: StreamParts) -> None:
    for token in range(0, 50257, 1001):
        found = logit_attribution(trace, parts, token)
        assert found is not None
        assert found.captured == float(trace["out_head"][ROW, POSITION, token])
        assert found.total == pytest.approx(found.captured, abs=2e-5)
        assert found.holds


def test_the_frozen_deviation_is_that_of_the_whole_stream(trace: Trace, parts: StreamParts) -> None:
    found = logit_attribution(trace, parts, 100)
    assert found is not None
    assert found.deviation is not None

    stream = trace["trf_blocks.1.shortcut2"][ROW, POSITION].double()
    assert found.deviation == pytest.approx(float(torch.sqrt(stream.var(unbiased=False) + 1e-5)))


def test_the_lead_of_one_logit_over_another_is_the_difference_of_their_shares(trace: Trace, parts: StreamParts) -> None:
    one, other = (named(logit_attribution(trace, parts, token), inner=True) for token in (716, 11))
    lead = logit_attribution(trace, parts, 716, minus=11)
    assert lead is not None

    assert named(lead, inner=True) == {name: pytest.approx(one[name] - other[name], abs=1e-9) for name in one}
    logits = trace["out_head"][ROW, POSITION]
    assert lead.captured == pytest.approx(float(logits[716]) - float(logits[11]), abs=1e-9)
    assert lead.holds


def test_a_bias_of_the_output_head_is_a_part_of_its_own(own_tiny_model: GPTModel) -> None:
    own_tiny_model.out_head.bias = torch.nn.Parameter(torch.arange(50257.0) / 50257)
    trace = capture(own_tiny_model, torch.tensor([[15496, 11]]))
    parts = read_parts(trace, 0, 1)

    found = logit_attribution(trace, parts, 40000)
    assert named(found)["output head's bias"] == pytest.approx(40000 / 50257)
    assert found is not None
    assert found.holds
    lead = logit_attribution(trace, parts, 40000, minus=20000)
    assert named(lead)["output head's bias"] == pytest.approx(20000 / 50257, abs=1e-6)


def test_a_wrong_logit_is_told(trace: Trace, parts: StreamParts, tampered: Callable[..., Trace]) -> None:
    wrong = tampered("out_head", lambda tensor: tensor[ROW, POSITION, 716].add_(0.01))

    found = logit_attribution(wrong, parts, 716)
    assert found is not None
    assert not found.holds
    assert found.difference == pytest.approx(0.01, abs=1e-4)


@pytest.mark.large
def test_the_124m_models_logits_are_the_sum_of_what_its_modules_gave(small_model: GPTModel, figures: dict) -> None:
    ids = torch.tensor([figures["untrained_124m_seed_123"]["ids"]])
    trace = capture(small_model, ids)
    parts = read_parts(trace, 0, 3)
    vectors = expected_vectors(small_model, ids, 0, 3, inner=True)
    stream = trace["trf_blocks.11.shortcut2"][0, 3].double()
    token = int(trace["next"])

    shares = named(logit_attribution(trace, parts, token), inner=True)
    expected = {name: lost(small_model, token, stream, vector) for name, vector in vectors.items()}
    assert len(expected) == 2 + 12 * (1 + 12 + 1 + 1)
    assert shares == {
        "final norm's shift": 0.0,
        **{name: pytest.approx(value, abs=2e-5) for name, value in expected.items()},
    }
    for feature in range(0, 768, 31):
        found = stream_attribution(parts, "trf_blocks.11.shortcut2", feature)
        assert found is not None
        assert found.holds
        assert found.captured == float(stream[feature])


# --- order -----------------------------------------------------------------------------------------------


def test_shares_can_be_ordered_by_size(parts: StreamParts) -> None:
    found = stream_attribution(parts, "trf_blocks.1.shortcut2", 0)
    assert found is not None

    ordered = by_size(found.shares)
    sizes = [abs(share.value) for share in ordered]
    assert sizes == sorted(sizes, reverse=True)
    assert {share.part for share in ordered} == {share.part for share in found.shares}
    for share in ordered:
        inner = [abs(more.value) for more in share.inner]
        assert inner == sorted(inner, reverse=True)
    assert replace(found, shares=ordered).total == pytest.approx(found.total)
