"""The live values that the tour can name, each computed from the situation when it is asked for."""

import math
from collections.abc import Callable

import numpy as np

from gptviz.capture.stages import block_input_name, block_name, catalogue
from gptviz.model.config import RELU
from gptviz.tour.situation import Situation
from gptviz.tour.text import NotYetError


class Part(float):
    """A probability or another share of a whole, from 0 to 1."""


class Token(str):
    """The text of a token: to be written so that white space can be seen."""

    __slots__ = ()


class Bytes(int):
    """An amount of memory."""


MEASURED = ("parameters.", "lab.")  # what the worker computes
_ALIASES = {"logits": "out_head"}


def fact(name: str, situation: Situation) -> object:
    """Return a live value: a number, a shape as a tuple, a Part, a Token, Bytes, a truth or a word.

    ``<stage>.shape`` is the shape of a stage's output; a name that begins with ``parameters.`` or ``lab.`` is computed
    by the worker; the others are in ``FACTS``.

    Raises
    ------
    NotYetError
        If it can't be had at present.
    KeyError
        If there is no value of this name.
    """
    if name in FACTS:
        return FACTS[name](situation)
    if name.startswith(MEASURED):
        return situation.measurement(name)
    stage, dot, what = name.rpartition(".")
    if dot and what == "shape":
        return _shape(_ALIASES.get(stage, stage), situation)
    raise KeyError(f"the tour knows no value {name!r}")


def _shape(local_name: str, s: Situation) -> tuple[int, ...]:
    known = {stage.local_name: stage for stage in catalogue(s.model_config)}
    if local_name not in known:
        raise KeyError(f"there is no stage {local_name!r}")
    trace = s.pass_
    name = s.whole(local_name)
    if name not in trace:
        raise NotYetError("end")
    return trace.record(name).output_shape


def _size(values: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> float:
    return float(np.linalg.norm(values.astype(np.float64)))


def _moment(which: str, what: str) -> Callable[[Situation], object]:
    def read(s: Situation) -> object:
        value = float(getattr(getattr(s.norm, f"moments_{which}"), what))
        return 0.0 if abs(value) < 1e-12 else value

    return read


def _norm_is_fresh(s: Situation) -> bool:
    return bool((s.norm.scale == 1).all() and (s.norm.shift == 0).all())


def _entropy(s: Situation) -> float:
    p = s.probabilities
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def _last_generated(s: Situation) -> Token:
    if not s.generated:
        raise NotYetError("generation")
    return Token(s.token_text(s.generated[-1]))


def _favourite(s: Situation) -> int:
    return int(s.attention[: s.token + 1].argmax())


def _context_after(s: Situation) -> int:
    return min(s.pass_.tokens + 1, s.pass_.config.context_length)


def _root(s: Situation) -> object:
    root = math.sqrt(s.model_config.head_dim)
    return int(root) if root == int(root) else root


def rounded(value: float) -> str:
    """Write a setting as short as it was given, such as 0.1 or 1e−5."""
    return f"{value:g}".replace("e-0", "e-").replace("-", "−")


FACTS: dict[str, Callable[[Situation], object]] = {
    # the model
    "model.title": lambda s: s.model_config and s.title,
    "model.seed": lambda s: s.model_config and s.seed,
    "model.parameters": lambda s: s.model_config and s.parameters,
    "model.trained": lambda s: bool(s.model_config) and s.trained,
    "config.vocabulary": lambda s: s.model_config.vocab_size,
    "config.context": lambda s: s.model_config.context_length,
    "config.features": lambda s: s.model_config.emb_dim,
    "config.heads": lambda s: s.model_config.n_heads,
    "config.head_features": lambda s: s.model_config.head_dim,
    "config.blocks": lambda s: s.model_config.n_layers,
    "config.hidden": lambda s: s.model_config.ff_dim,
    "config.widens": lambda s: s.model_config.ff_dim > s.model_config.emb_dim,
    "config.activation": lambda s: "ReLU" if s.model_config.activation == RELU else "GELU",
    "config.gelu": lambda s: s.model_config.activation != RELU,
    "config.dropout": lambda s: rounded(s.model_config.drop_rate),
    "config.bias": lambda s: s.model_config.qkv_bias,
    "config.tied": lambda s: s.model_config.tie_weights,
    "config.many_heads": lambda s: s.model_config.n_heads > 1,
    "config.many_blocks": lambda s: s.model_config.n_layers > 1,
    # the pass
    "run.tokens": lambda s: s.pass_.tokens,
    "run.texts": lambda s: s.pass_.batch,
    "run.many_tokens": lambda s: s.pass_.tokens > 1,
    "run.many_texts": lambda s: s.pass_.batch > 1,
    "run.row": lambda s: s.row + 1,
    "run.stages": lambda s: len(catalogue(s.pass_.config)),
    "run.stages_of_a_block": lambda s: sum(stage.layer == 0 for stage in catalogue(s.pass_.config)),
    "first.text": lambda s: Token(s.text_at(0)),
    "first.id": lambda s: str(int(s.pass_.array("ids")[s.row, 0])),
    "token.text": lambda s: Token(s.text_at(s.token)),
    "token.id": lambda s: str(int(s.pass_.array("ids")[s.row, s.token])),
    "token.position": lambda s: s.token,
    "layer.number": lambda s: s.pass_ and s.layer + 1,
    "head.number": lambda s: s.pass_ and s.head + 1,
    # LayerNorm
    "norm.before_mean": _moment("before", "mean"),
    "norm.before_variance": _moment("before", "variance"),
    "norm.normalised_mean": _moment("normalised", "mean"),
    "norm.normalised_variance": _moment("normalised", "variance"),
    "norm.eps": lambda s: rounded(s.norm.eps),
    "norm.fresh": _norm_is_fresh,
    # attention
    "attention.root": _root,
    "attention.by_root": lambda s: s.model_config.scaled_by_root,
    "attention.divisor": lambda s: s.model_config.score_divisor(s.layer),
    "attention.visible": lambda s: s.token + 1,
    "attention.hidden": lambda s: s.pass_.tokens - 1 - s.token,
    "attention.sees_others": lambda s: s.token > 0,
    "attention.favourite": lambda s: Token(s.text_at(_favourite(s))),
    "attention.favourite_position": _favourite,
    "attention.largest": lambda s: Part(s.attention.max()),
    "attention.even": lambda s: Part(1 / (s.token + 1)),
    "attention.sum": lambda s: Part(s.attention.astype(np.float64).sum()),
    # feed-forward and shortcuts
    "gelu.negative": lambda s: int((s.features("ff.layers.0") < 0).sum()),
    "gelu.least_before": lambda s: float(s.features("ff.layers.0").min()),
    "gelu.least_after": lambda s: float(s.features("ff.layers.1").min()),
    "shortcut.stream": lambda s: _size(s.features(block_input_name(s.layer))),
    "shortcut.branch": lambda s: _size(s.features("drop_shortcut1")),
    "shortcut.sum": lambda s: _size(s.features("shortcut1")),
    "stack.first": lambda s: _size(s.features("drop_emb")),
    "stack.last": lambda s: _size(s.features(f"{block_name(s.model_config.n_layers - 1)}.shortcut2")),
    # what comes out
    "top.text": lambda s: Token(s.token_text(s.likeliest[0])),
    "top.id": lambda s: str(s.likeliest[0]),
    "top.logit": lambda s: float(s.logits.max()),
    "top.probability": lambda s: Part(s.probabilities.max()),
    "second.text": lambda s: Token(s.token_text(s.likeliest[1])),
    "second.probability": lambda s: Part(s.probabilities[s.likeliest[1]]),
    "top.even": lambda s: Part(1 / s.logits.size),
    "top.times_even": lambda s: float(s.probabilities.max() * s.logits.size),
    "top.bits": _entropy,
    "top.most_bits": lambda s: math.log2(s.logits.size),
    "logits.least": lambda s: float(s.logits.min()),
    "next.context": _context_after,
    "next.is_cropped": lambda s: s.pass_.tokens >= s.pass_.config.context_length,
    "generation.any": lambda s: bool(s.generated),
    "generation.many": lambda s: len(s.generated) > 1,
    "generation.steps": lambda s: len(s.generated),
    "generation.last": _last_generated,
}
