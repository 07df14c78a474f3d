r"""The formula of each stage, with the sizes of a run below its symbols.

Formulas are written in a small part of TeX, which ``gptviz.widgets.math_markup`` sets: ``^``, ``_``, ``\frac``,
``\root``, ``\paren``, ``\sum``, ``\limit``, ``\cases``, ``\bold``, ``\word``; ``\under{x}{note}`` writes a note,
here a shape, below x.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from gptviz.analysis.operands import inputs_of
from gptviz.capture.stages import Stage
from gptviz.model.config import GELU_EXACT, RELU, GPTConfig


@dataclass(frozen=True)
class Sizes:
    """A stage in a run of ``batch`` sequences of ``tokens`` tokens."""

    stage: Stage
    config: GPTConfig
    batch: int
    tokens: int
    eps: float = 1e-5  # of a LayerNorm
    drop_rate: float = 0.0  # of a dropout

    @cached_property
    def letters(self) -> dict[str, str]:
        """The sizes as words and sentences write them."""
        config, tokens = self.config, self.tokens
        return {
            "tokens": "1 token" if tokens == 1 else f"{tokens:,} tokens",
            "last": str(tokens - 1),
            "E": f"{config.emb_dim:,}",
            "F": f"{config.ff_dim:,}",
            "H": str(config.n_heads),
            "D": str(config.head_dim),
            "V": f"{config.vocab_size:,}",
        }

    def of(self, dims: str) -> str:
        """Write a shape from its letters."""
        return _shape(replace(self.stage, dims=dims).shape(self.config, self.batch, self.tokens))

    @property
    def out(self) -> str:
        return self.of(self.stage.dims)

    @property
    def branch_and_stream(self) -> tuple[str, str]:
        """What a shortcut adds, in words."""
        stage = self.stage
        _, stream = inputs_of(stage, self.config)
        if stage.local_name == "shortcut2":
            return "feed-forward", "shortcut 1"
        return "attention", "embeddings" if stream == "drop_emb" else "block input"


def formula(sizes: Sizes) -> str:
    """Return the formula of the stage."""
    return _FORMULAS[sizes.stage.local_name](sizes)


def _shape(sizes: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, sizes))})"


def _noted(symbol: str, note: str) -> str:
    return f"\\under{{{symbol}}}{{{note}}}"


def _word(text: str) -> str:
    return f"\\word{{{text}}}"


def _bold(text: str) -> str:
    return f"\\bold{{{text}}}"


def _linear(name: str, source: str, weight: str, bias: str, dims: str) -> Callable[[Sizes], str]:
    """Formula of x · Wᵀ + b; ``dims`` are the letters of input and output features.

    ``bias`` names the setting that tells whether there is a b; if it is empty there is none.
    """

    def formula(s: Sizes) -> str:
        has_bias = bool(bias) and getattr(s.config, bias)
        product = f"{_noted(source, s.of('BT' + dims[0]))} · {_noted(weight, s.of(dims))}"
        ending = f" + {_noted('b', s.of(dims[1]))}" if has_bias else ""
        return f"{_noted(name, s.out)} = {product}{ending}"

    return formula


def _split(name: str) -> Callable[[Sizes], str]:
    def formula(s: Sizes) -> str:
        steps = f"{_noted(name.lower(), s.of('BTE'))} → {_noted(_word('view'), s.of('BTHD'))}"
        letters = s.letters
        return f"{steps} → {_noted(_bold(name), s.out)}     {letters['E']} = {letters['H']} · {letters['D']}"

    return formula


def _norm(s: Sizes) -> str:
    over = f"x − {_word('mean')}\\paren{{x}}"
    below = f"\\root{{{_word('var')}\\paren{{x}} + {_power_of_ten(s.eps)}}}"
    size = s.of("E")
    learned = f"{_noted(_word('scale'), size)} · \\frac{{{over}}}{{{below}}}"
    learned += f" + {_noted(_word('shift'), size)}" if s.config.bias else ""
    return f"{_noted('y', s.out)} = {learned}     E = {s.letters['E']}"


def _power_of_ten(value: float) -> str:
    digits, exponent = f"{value:e}".split("e")
    factor = f"{float(digits):g}"
    power = f"10^{{{int(exponent)}}}".replace("-", "−")
    return power if factor == "1" else f"{factor} · {power}"


def _dropout(s: Sizes) -> str:
    p = f"{s.drop_rate:g}"
    cases = f"\\cases{{0}}{{{_word(f'with probability {p}')}}}{{\\frac{{x}}{{1 − {p}}}}}{{{_word('otherwise')}}}"
    return f"{_word('eval: ')} {_noted('y', s.out)} = x      {_word('training: ')} y = {cases}"


def _added(s: Sizes) -> str:
    branch, stream = s.branch_and_stream
    return f"{_noted('x', s.out)} = {_noted(_word(branch), s.out)} + {_noted(_word(stream), s.out)}"


def _scaled(s: Sizes) -> str:
    if not s.config.scaled_by_root:
        return _scaled_otherwise(s)
    root = f"{s.config.head_dim**0.5:.4g}"
    scores = _noted(_word("scores"), s.out)
    sign = "=" if float(root) ** 2 == s.config.head_dim else "≈"
    return (
        f"{_noted(_word('scaled'), s.out)} = \\frac{{{_word('scores')}}}{{\\root{{D}}}} = "
        f"\\frac{{{_word('scores')}}}{{\\root{{{s.config.head_dim}}}}} {sign} {scores} ÷ {root}"
    )


def _scaled_otherwise(s: Sizes) -> str:
    assert s.stage.layer is not None
    scaled, scores = _noted(_word("scaled"), s.out), _noted(_word("scores"), s.out)
    divisor = s.config.score_divisor(s.stage.layer)
    if divisor == 1:
        return f"{scaled} = {scores}"
    number = s.stage.layer + 1
    if not s.config.scale_attn_weights:
        return f"{scaled} = {scores} ÷ {number}"
    root = f"\\root{{{s.config.head_dim}}}"
    below = f"{root} · {number}" if s.config.scale_attn_by_inverse_layer_idx else root
    return f"{scaled} = \\frac{{{_word('scores')}}}{{{below}}} ≈ {scores} ÷ {divisor:.4g}"


def _masked(s: Sizes) -> str:
    cases = "\\cases{s_{q,k}}{k ≤ q}{−∞}{k > q}"
    return f"{_noted(_word('masked') + '_{q,k}', s.out)} = {cases}     0 ≤ q, k ≤ {s.tokens - 1}"


def _softmax(s: Sizes) -> str:
    total = f"\\sum{{j = 0}}{{{s.tokens - 1}}} e^{{s_{{q,j}}}}"
    return f"{_noted(_word('weights') + '_{q,k}', s.out)} = \\frac{{e^{{s_{{q,k}}}}}}{{{total}}}"


def _activation(s: Sizes) -> str:
    y, x = _noted("y", s.out), _noted("x", s.out)
    if s.config.activation == RELU:
        return f"{y} = {_word('max')}\\paren{{0, {x}}}"
    if s.config.activation == GELU_EXACT:
        return f"{y} = \\frac{{1}}{{2}} {x} \\paren{{1 + {_word('erf')}\\paren{{\\frac{{x}}{{\\root{{2}}}}}}}}"
    return _gelu(s)


def _gelu(s: Sizes) -> str:
    inner = "\\root{\\frac{2}{π}} \\paren{x + 0.044715 x^{3}}"
    return (
        f"{_noted('y', s.out)} = \\frac{{1}}{{2}} {_noted('x', s.out)} \\paren{{1 + {_word('tanh')}\\paren{{{inner}}}}}"
    )


def _scores(s: Sizes) -> str:
    H, D, T = s.config.n_heads, s.config.head_dim, s.tokens
    keys = _noted("\\bold{K}^{T}", _shape((s.batch, H, D, T)))
    return f"{_noted(_word('scores'), s.out)} = {_noted(_bold('Q'), s.of('BHTD'))} · {keys}"


def _context(s: Sizes) -> str:
    weights = _noted(_word("weights"), s.of("BHTT"))
    return f"{_noted(_word('context'), s.out)} = {weights} · {_noted(_bold('V'), s.of('BHTD'))}"


def _merged(s: Sizes) -> str:
    first, second = _noted(_word("context"), s.of("BHTD")), _noted(_word("transpose"), s.of("BTHD"))
    letters = s.letters
    sizes = f"{letters['H']} · {letters['D']} = {letters['E']}"
    return f"{first} → {second} → {_noted(_word('merged'), s.out)}     {sizes}"


def _last(s: Sizes) -> str:
    return f"{_noted(_word('last'), s.out)} = {_noted(_word('logits') + f'_{{t={s.tokens - 1}}}', s.of('BTV'))}"


def _next(s: Sizes) -> str:
    choice = f"\\limit{{{_word('argmax')}}}{{0 ≤ v < {s.config.vocab_size}}}"
    return f"{_noted(_word('next'), s.out)} = {choice} {_noted(_word('last') + '_{v}', s.of('BV'))}"


def _ids(s: Sizes) -> str:
    return f"{_noted(_word('ids'), s.out)} = {_word('tokenizer')}\\paren{{{_word('text')}}}     " + (
        f"0 ≤ {_word('id')} < {s.config.vocab_size}"
    )


def _tok_emb(s: Sizes) -> str:
    table = _noted("\\bold{W}", _shape((s.config.vocab_size, s.config.emb_dim)))
    return f"{_noted(_word('tokens'), s.out)} = {table} [ {_noted(_word('ids'), s.of('BT'))} ]"


def _pos_emb(s: Sizes) -> str:
    table = _noted("\\bold{W}", _shape((s.config.context_length, s.config.emb_dim)))
    return f"{_noted(_word('positions'), s.out)} = {table} [ {_noted(f'0 … {s.tokens - 1}', s.of('T'))} ]"


def _embeddings(s: Sizes) -> str:
    tokens, positions = _noted(_word("tokens"), s.out), _noted(_word("positions"), s.of("TE"))
    return f"{_noted('x', s.out)} = {tokens} + {positions}"


_FORMULAS: dict[str, Callable[[Sizes], str]] = {
    "ids": _ids,
    "tok_emb": _tok_emb,
    "pos_emb": _pos_emb,
    "embeddings": _embeddings,
    "drop_emb": _dropout,
    "norm1": _norm,
    "att.W_query": _linear("q", "x", "\\bold{W}_{q}^{T}", "qkv_bias", "EE"),
    "att.W_key": _linear("k", "x", "\\bold{W}_{k}^{T}", "qkv_bias", "EE"),
    "att.W_value": _linear("v", "x", "\\bold{W}_{v}^{T}", "qkv_bias", "EE"),
    "att.queries": _split("Q"),
    "att.keys": _split("K"),
    "att.values": _split("V"),
    "att.scores": _scores,
    "att.scaled": _scaled,
    "att.masked": _masked,
    "att.weights": _softmax,
    "att.dropout": _dropout,
    "att.context": _context,
    "att.merged": _merged,
    "att.out_proj": _linear("y", "x", "\\bold{W}_{o}^{T}", "bias", "EE"),
    "drop_shortcut1": _dropout,
    "shortcut1": _added,
    "norm2": _norm,
    "ff.layers.0": _linear("h", "x", "\\bold{W}_{1}^{T}", "bias", "EF"),
    "ff.layers.1": _activation,
    "ff.layers.2": _linear("y", "h", "\\bold{W}_{2}^{T}", "bias", "FE"),
    "drop_shortcut2": _dropout,
    "shortcut2": _added,
    "final_norm": _norm,
    "out_head": _linear(_word("logits"), "x", "\\bold{W}^{T}", "", "EV"),
    "last": _last,
    "next": _next,
}
