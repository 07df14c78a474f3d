"""What a stage is called, and what it does in one plain sentence, with the sizes of a run."""

from dataclasses import dataclass

from gptviz.analysis.formulas import Sizes, formula
from gptviz.capture.stages import Stage
from gptviz.model.config import GELU_EXACT, RELU


@dataclass(frozen=True)
class StageText:
    """Title, one plain sentence, and the formula."""

    title: str
    sentence: str
    formula: str


_DROPOUT = "Leaves out single features at random while training, so that none is relied on."
# local name: title, sentence; {T} and the like are this run's sizes
_WORDS = {
    "ids": ("token IDs", "The text goes in as {tokens}; the model sees only their numbers."),
    "tok_emb": ("token embedding", "Each token's ID picks one row of a learned table: {E} numbers for the token."),
    "pos_emb": ("position embedding", "Each position, 0 to {last}, picks one row of a second learned table."),
    "embeddings": ("token + position", "What the token is and where it stands are added, feature by feature."),
    "drop_emb": ("dropout", _DROPOUT),
    "norm1": ("LayerNorm 1", "Each token's features get mean 0 and variance 1, then a scale and a shift."),
    "att.W_query": ("attention · W_query", "A linear layer makes of each token what it looks for: its query."),
    "att.W_key": ("attention · W_key", "A linear layer makes of each token what it can be found by: its key."),
    "att.W_value": ("attention · W_value", "A linear layer makes of each token what it hands on: its value."),
    "att.queries": ("attention · queries", "The {E} features of each query are dealt out to {H} heads, {D} to each."),
    "att.keys": ("attention · keys", "The {E} features of each key are dealt out to {H} heads, {D} to each."),
    "att.values": ("attention · values", "The {E} features of each value are dealt out to {H} heads, {D} to each."),
    "att.scores": ("attention · scores", "Each query meets each key: the dot product of their {D} features."),
    "att.scaled": ("attention · scaled", "Dividing by √{D} keeps the scores' spread from growing with a head's size."),
    "att.masked": ("attention · causal mask", "Scores of later keys become −∞: no token may look into its future."),
    "att.weights": ("attention · weights", "Softmax turns every query's scores into shares of the keys that sum to 1."),
    "att.dropout": ("attention · dropout", "Leaves out single weights at random while training."),
    "att.context": ("attention · context", "Each query mixes the values, each in proportion to its attention weight."),
    "att.merged": ("attention · merge heads", "The {H} heads' {D} features stand side by side again: {E} for a token."),
    "att.out_proj": ("attention · projection", "A linear layer mixes what the {H} heads have found."),
    "drop_shortcut1": ("dropout 1", _DROPOUT),
    "shortcut1": ("shortcut 1", "Attention's result is added to what came in: the residual stream."),
    "norm2": ("LayerNorm 2", "Each token's features get mean 0 and variance 1, then a scale and a shift."),
    "ff.layers.0": ("feed-forward · expand", "A linear layer widens every token to four times its features: {F}."),
    "ff.layers.1": ("feed-forward · GELU", "Each number is bent: large ones pass, very negative ones become almost 0."),
    "ff.layers.2": ("feed-forward · contract", "A linear layer brings every token back from {F} to {E} features."),
    "drop_shortcut2": ("dropout 2", _DROPOUT),
    "shortcut2": ("shortcut 2", "The feed-forward result is added to the stream: the block's output."),
    "final_norm": ("Final LayerNorm", "The last block's output is normalised once more, then scaled and shifted."),
    "out_head": ("Output head · logits", "Each token meets {V} rows of weights: one score for each candidate."),
    "last": ("Last position", "Only the last position's logits are needed: they score what could come next."),
    "next": ("Next token", "Greedy choice: the token with the largest logit is appended."),
}

_SHORT = {
    "att.scaled": "scaled scores",
    "att.masked": "masked scores",
    "out_head": "logits",
    "last": "logits of the last position",
}
_AS_INPUT = {
    "att.dropout": "weights",
    "drop_emb": "embeddings",
    "drop_shortcut1": "attention branch",
    "shortcut1": "residual stream",
    "drop_shortcut2": "feed-forward branch",
    "shortcut2": "residual stream",
}


def stage_text(sizes: Sizes) -> StageText:
    """Describe a stage in a run of these sizes."""
    stage = sizes.stage
    title, sentence = _varied(sizes) or _WORDS[stage.local_name]
    named = title[0].upper() + title[1:] if stage.layer is None else f"Block {stage.layer + 1} · {title}"
    return StageText(named, sentence.format_map(sizes.letters), formula(sizes))


def _varied(sizes: Sizes) -> tuple[str, str] | None:
    """Return title and sentence of what this model does in another way than GPT-2; None if it does not."""
    config, name = sizes.config, sizes.stage.local_name
    if name in ("norm1", "norm2", "final_norm") and not config.bias:
        return _WORDS[name][0], _WORDS[name][1].replace("then a scale and a shift", "then a scale").replace(
            "then scaled and shifted", "then scaled"
        )
    if name == "ff.layers.0" and config.ff_dim != 4 * config.emb_dim:
        return "feed-forward · linear 1", "A linear layer takes every token from {E} to {F} features."
    if name == "ff.layers.1" and config.activation == RELU:
        return "feed-forward · ReLU", "Each number is bent: positive ones pass, negative ones become 0."
    if name == "ff.layers.1" and config.activation == GELU_EXACT:
        return "feed-forward · GELU, exact", f"{_WORDS[name][1][:-1]}. This is GELU as defined, not its tanh form."
    if name == "att.scaled" and not config.scaled_by_root:
        return _WORDS[name][0], _scaling(sizes)
    if name == "out_head" and config.tie_weights:
        return _WORDS[name][
            0
        ], "Each token meets the {V} rows of the token embedding again: a score for each candidate."
    return None


def _scaling(sizes: Sizes) -> str:
    config, layer = sizes.config, sizes.stage.layer or 0
    if config.score_divisor(layer) == 1:
        return "In this block the scores are divided by 1: they stay as they are."
    if not config.scale_attn_weights:
        return f"This model divides the scores by {layer + 1}, the block's number, and by nothing else."
    return f"This model divides the scores by √{{D}} and by {layer + 1}, the block's number."


def short_title(stage: Stage) -> str:
    """Return what the stage's tensor is called beside others of its block."""
    if stage.local_name == "ff.layers.1":
        return stage.operation
    title = _WORDS[stage.local_name][0].removeprefix("attention · ").removeprefix("feed-forward · ")
    return _SHORT.get(stage.local_name, title)


def input_title(stage: Stage) -> str:
    """Return what the stage's tensor is where it goes into another one."""
    return _AS_INPUT.get(stage.local_name) or short_title(stage)


def is_dropout(stage: Stage) -> bool:
    """Tell whether ``stage`` is a dropout."""
    return stage.operation == "dropout"


def dropout_text(p: float, training: bool, unchanged: bool | None) -> str:
    """Say what a dropout did and would do; ``unchanged`` is whether its output was found equal to its input."""
    would = (
        f"set to 0 with probability {p:g}"
        if p == 0
        else f"set to 0 with probability {p:g} and the others multiplied by 1 ÷ (1 − {p:g}) = {1 / (1 - p):.4g}"
    )
    if training:
        return f"The module is in training mode: each value is {would}."
    found = {
        None: "",
        True: " The output equals the input, compared value by value.",
        False: " Yet the output differs from the input, compared value by value.",
    }[unchanged]
    return f"Eval mode: dropout is the identity.{found} In training each value would be {would}."
