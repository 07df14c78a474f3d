"""The code that made each stage: which class, which line, and where it was called."""

import pytest

from gptviz.analysis.source import StageSource, stage_source
from gptviz.capture import Trace
from gptviz.capture.stages import catalogue
from gptviz.model import TINY

# local name: the function, a part of its marked line, and a part of the calling line
EXPECTED = {
    "ids": ("GPTModel.forward", "check_ids(ids, self.config)", None),
    "tok_emb": ("Embedding.forward", "F.embedding(", "self.tok_emb(ids)"),
    "pos_emb": ("Embedding.forward", "F.embedding(", "self.pos_emb("),
    "embeddings": ("GPTModel.forward", "x = tokens + positions", None),
    "drop_emb": ("Dropout.forward", "F.dropout(", "x = self.drop_emb(x)"),
    "norm1": ("LayerNorm.forward", "return self.scale * norm_x + self.shift", "x = self.norm1(x)"),
    "att.W_query": ("Linear.forward", "F.linear(", "self.W_query(x)"),
    "att.W_key": ("Linear.forward", "F.linear(", "self.W_key(x)"),
    "att.W_value": ("Linear.forward", "F.linear(", "self.W_value(x)"),
    "att.queries": ("SplitHeads.forward", "x = x.transpose(1, 2)", "self.queries(q)"),
    "att.keys": ("SplitHeads.forward", "x = x.transpose(1, 2)", "self.keys(k)"),
    "att.values": ("SplitHeads.forward", "x = x.transpose(1, 2)", "self.values(v)"),
    "att.scores": ("AttentionScores.forward", "queries @ keys.transpose(2, 3)", "self.scores(queries, keys)"),
    "att.scaled": ("ScaleScores.forward", "scores / math.sqrt(self.head_dim)", "self.scaled(scores)"),
    "att.masked": ("CausalMask.forward", "masked_fill(future, -torch.inf)", "self.masked(scores)"),
    "att.weights": ("Softmax.forward", "F.softmax(", "weights = self.weights(scores)"),
    "att.dropout": ("Dropout.forward", "F.dropout(", "weights = self.dropout(weights)"),
    "att.context": ("WeightedSum.forward", "weights @ values", "self.context(weights, values)"),
    "att.merged": ("MergeHeads.forward", "context.reshape(B, T, H * D)", "self.merged(context)"),
    "att.out_proj": ("Linear.forward", "F.linear(", "self.out_proj(context)"),
    "drop_shortcut1": ("Dropout.forward", "F.dropout(", "x = self.drop_shortcut(x)"),
    "shortcut1": ("TransformerBlock.forward", "x = x + shortcut", "x = self.trf_blocks(x)"),
    "norm2": ("LayerNorm.forward", "return self.scale * norm_x + self.shift", "x = self.norm2(x)"),
    "ff.layers.0": ("Linear.forward", "F.linear(", "self.layers(x)"),
    "ff.layers.1": ("GELU.forward", "return 0.5 * x * (1 + torch.tanh(inner))", "self.layers(x)"),
    "ff.layers.2": ("Linear.forward", "F.linear(", "self.layers(x)"),
    "drop_shortcut2": ("Dropout.forward", "F.dropout(", "x = self.drop_shortcut(x)"),
    "shortcut2": ("TransformerBlock.forward", "x = x + shortcut", "x = self.trf_blocks(x)"),
    "final_norm": ("LayerNorm.forward", "return self.scale * norm_x + self.shift", "x = self.final_norm(x)"),
    "out_head": ("Linear.forward", "F.linear(", "self.out_head(x)"),
    "last": ("last_logits", "return logits[:, -1, :]", "last_logits(model(context))"),
    "next": ("greedy_choice", "torch.argmax(last, dim=-1, keepdim=True)", "greedy_choice(logits)"),
}


def source_of(trace: Trace, name: str) -> StageSource:
    source = stage_source(trace, trace.record(name).stage)
    assert source is not None
    return source


@pytest.mark.parametrize("stage", catalogue(TINY), ids=lambda stage: stage.name)
def test_each_stage_has_its_line_marked_and_its_caller_named(trace: Trace, stage: object) -> None:
    source = source_of(trace, stage.name)  # type: ignore[attr-defined]
    function, line, call = EXPECTED[stage.local_name]  # type: ignore[attr-defined]

    assert source.code.name == function
    assert line in source.code.marked_text
    if call is None:
        assert source.caller is None
    else:
        assert source.caller is not None
        assert call in source.caller.marked_text


@pytest.mark.parametrize("stage", catalogue(TINY), ids=lambda stage: stage.name)
def test_line_numbers_are_those_of_the_file(trace: Trace, stage: object) -> None:
    source = source_of(trace, stage.name)  # type: ignore[attr-defined]

    for code in (source.code, source.caller):
        if code is not None:
            with open(code.file, encoding="utf-8") as file:  # noqa: PTH123
                lines = file.read().splitlines()
            in_file = [line.strip() for line in lines[code.marked.start - 1 : code.marked.stop - 1]]
            assert in_file == [line.strip() for line in code.marked_text.splitlines()]


@pytest.mark.parametrize("kind", ["drop_shortcut", "shortcut"])
def test_first_and_second_use_in_a_block_are_told_apart(trace: Trace, kind: str) -> None:
    first, second = (source_of(trace, f"trf_blocks.0.{kind}{number}") for number in (1, 2))
    if kind == "shortcut":
        lines = first.code.marked, second.code.marked
    else:
        assert first.caller is not None
        assert second.caller is not None
        lines = first.caller.marked, second.caller.marked

    assert lines[0].start + 6 == lines[1].start


def test_pytorchs_own_code_is_said_to_be(trace: Trace) -> None:
    assert source_of(trace, "out_head").of_torch
    assert source_of(trace, "out_head").code.short_file == "torch/nn/modules/linear.py"
    assert not source_of(trace, "final_norm").of_torch
    assert source_of(trace, "final_norm").code.short_file == "gptviz/model/layers.py"


def test_classes_without_a_file_have_no_source(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace: dict[str, object] = {}
    exec("def forward(self, x):\n    return x", namespace)
    monkeypatch.setattr(type(trace.replay.model.final_norm), "forward", namespace["forward"])

    assert stage_source(trace, trace.record("final_norm").stage) is None
