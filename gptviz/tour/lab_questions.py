"""Questions about what a lab is going to show, made from the numbers that stand in it. Nothing here imports torch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from gptviz.labs.feed_forward_sizes import Sizes as FeedForwardSizes
from gptviz.model.config import GPTConfig
from gptviz.tour.question import Answer, Question, ask
from gptviz.tour.sizes import shape

_FIRST = "An error from the first Linear"
_SECOND = "An error from the second Linear"
_FLAT = 1e-9  # the variance of a row that has none, up to rounding
_NOT_A_NUMBER = "NaN, no number"


def feed_forward(s: FeedForwardSizes, seed: int) -> Question:
    """Ask what a feed-forward network with layers of any sizes gives: a shape, or an error of one of them."""
    B, T, E = s.batch, s.tokens, s.features
    good = shape(B, T, s.contract_out)
    if s.expand_in != E:
        right = Answer(_FIRST, f"It takes {s.expand_in:,} features, and {E:,} arrive. No later layer is reached.")
        blamed = Answer(_SECOND, "Whether it fits or not: data reaches the first layer before, and stops there.")
    elif s.contract_in != s.expand_out:
        right = Answer(_SECOND, f"It takes {s.contract_in:,} features, and {s.expand_out:,} arrive from the first.")
        blamed = Answer(_FIRST, f"It takes {s.expand_in:,} features, and so many arrive: it has nothing to refuse.")
    else:
        returned = "as many as went in" if s.contract_out == E else f"though {E:,} went in"
        right = Answer(good, f"All layers fit, and the last one returns {s.contract_out:,} features, {returned}.")
        blamed = Answer(_SECOND, f"It takes {s.contract_in:,} features, and so many arrive from the first.")
    wrong = [
        blamed,
        Answer(good, "That is what the second layer was made to return; the data does not get so far."),
        Answer(shape(B, T, s.expand_out), f"{'Expanded: t' if s.expand_out > E else 'T'}hat is the middle, half way."),
        Answer(shape(B, T, max(1, E // 4)), "Compressed: no layer here was made to return so few."),
        Answer(shape(B * T, s.contract_out), "Flattened: a linear layer leaves all axes but the last as they are."),
        Answer(shape(B, T, E), "The width that went in comes back only if the second layer returns it."),
        Answer(shape(B, T, s.expand_out + s.contract_out), "Concatenated: only the last layer's output goes on."),
    ]
    text = (
        f"A batch of shape {shape(B, T, E)} goes through Linear({s.expand_in}, {s.expand_out}), GELU and "
        f"Linear({s.contract_in}, {s.contract_out}). What comes out?"
    )
    return ask("lab.feed-forward", text, right, wrong, seed)


def tied_head(config: GPTConfig, seed: int) -> Question:
    """Ask how many parameters a model saves that uses its token embedding as its output head."""
    V, E, C = config.vocab_size, config.emb_dim, config.context_length
    right = Answer(f"{V * E:,}", f"The head is a matrix of {V:,} × {E:,}: a score for each token from {E:,} features.")
    wrong = [
        Answer(f"{C * E:,}", "That is the position embedding, which stays."),
        Answer(f"{V * E + V:,}", "The head has no bias, so there is none to be saved."),
        Answer(f"{2 * V * E:,}", "Both matrices: but one of them has to stay."),
        Answer(f"{V:,}", "One number for each token: but the head has a row of features for each."),
        Answer(
            f"{V * config.head_dim:,}", "Attention's heads have part of the features each; the output head has all."
        ),
        Answer(f"{V * E + 1:,}", "Off by one: a matrix has rows times columns."),
        Answer(f"{V * E + V + 1:,}", "Neither a bias nor anything else comes to rows times columns."),
        Answer(f"{3 * V * E + 5:,}", "Three times too many, and more."),
    ]
    text = (
        f"With {V:,} tokens and {E:,} features, how many parameters does a model save whose output head uses the "
        "token embedding's matrix?"
    )
    return ask("lab.tied-head", text, right, wrong, seed)


@dataclass(frozen=True)
class Spread:
    """A row of ``numbers`` numbers, the ``root`` that it is divided by, and its variance before and ``after``."""

    numbers: int
    variance: float
    root: float
    eps: float
    after: float


def variance_after(row: Spread, write: Callable[[float], str], seed: int) -> Question:
    """Ask what the variance of a normalised row is. ``write`` writes equal numbers alike, and NaN as NaN."""
    flat = row.after < _FLAT
    if math.isnan(row.after):
        right = Answer(_NOT_A_NUMBER, "0 is divided by 0, which is no number.")
    elif flat:
        right = Answer(
            write(row.after), "No division makes a spread where there is none; eps only keeps it from dividing by 0."
        )
    else:
        left = "The row is divided by the root of variance + eps, so variance ÷ (variance + eps) is left."
        right = Answer(write(row.after), left)
    wrong = [
        Answer(write(1.0), "Exactly 1 is left only of a row with some spread, and without eps under the root."),
        Answer(write(row.variance), "That is the variance before; dividing the row changes it."),
        Answer(write(row.root), "That is what the row is divided by."),
        *([] if flat else [Answer(write(0.0), "That is the mean after. With no variance all numbers would be equal.")]),
        Answer(_NOT_A_NUMBER, "Nothing is divided by 0 here."),
        Answer(write(float(row.numbers)), "That is how many numbers there are; a variance is an average over them."),
        Answer(write(-1.0), "A variance is an average of squares, and never negative."),
        Answer(write(-2.0), "A variance is an average of squares, and never negative."),
    ]
    eps = f"{row.eps:g}".replace("e-0", "e-").replace("-", "−")
    numbers = "1 number" if row.numbers == 1 else f"{row.numbers:,} numbers"
    text = (
        f"A row of {numbers} has the variance {write(row.variance)}. Its mean is subtracted, then it is divided by "
        f"the root of variance + eps, with eps = {eps}. What variance has it then?"
    )
    return ask("lab.variance-after", text, right, wrong, seed)
