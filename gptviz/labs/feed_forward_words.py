"""Words for a mismatch: what torch's message means, and what to change."""

from typing import Protocol

Told = tuple[str, str, str]  # headline, reason, remedy


class LayerSizes(Protocol):
    """The sizes that the words speak of."""

    @property
    def features(self) -> int: ...
    @property
    def expand_in(self) -> int: ...
    @property
    def expand_out(self) -> int: ...
    @property
    def contract_in(self) -> int: ...
    @property
    def contract_out(self) -> int: ...


def explain_linear(key: str, batch: int, tokens: int, takes: tuple[int, ...], sizes: LayerSizes) -> Told:
    """Explain why a Linear did not accept ``takes``."""
    came = takes[-1]
    first = key == "expand"
    name, whence = ("first", "the batch") if first else ("second", "GELU")
    wants, gives = (sizes.expand_in, sizes.expand_out) if first else (sizes.contract_in, sizes.contract_out)
    headline = f"The chain breaks inside: the {name} Linear takes {wants:,}, but {came:,} arrive"
    reason = (
        f"torch flattens the batch to one row for each token: {batch} · {tokens} = {batch * tokens:,} rows of {came:,} "
        f"numbers, from {whence}. It multiplies them with the turned weight, {wants:,} rows of {gives:,}. A product "
        f"needs the two inner numbers equal, and {came:,} ≠ {wants:,}."
    )
    if first and takes[1] == wants:
        remedy = (
            f"The {wants:,} is there, as the number of tokens: features have to be the last dimension. Turn the batch."
        )
    elif first and sizes.expand_out == came:
        remedy = f"Swap the two numbers: nn.Linear takes first what comes in, Linear({came}, {wants})."
    elif first:
        remedy = f"Make the layer for this batch, Linear({came}, …), or give it a batch with {wants:,} features."
    else:
        remedy = f"Let the second layer begin where the first ends: Linear({came}, {gives})."
    return headline, reason, remedy


def explain_addition(returned: int, expected: int, silent: bool) -> Told:
    """Explain what an output of ``returned`` features does where ``expected`` are needed."""
    remedy = f"Let the second layer return {expected:,}."
    if silent:
        headline = f"No error, and still wrong: {returned:,} comes back where {expected:,} are expected"
        reason = (
            f"A dimension of 1 is stretched when tensors are added. So the one number serves for all "
            f"{max(returned, expected):,} features, and torch has nothing to complain about. Only the shapes tell."
        )
        return headline, reason, remedy
    headline = f"The module runs, but returns {returned:,} where {expected:,} are expected"
    reason = (
        f"Inside the module all numbers match, so it raises no error of its own. The shortcut adds its input, which "
        f"has {expected:,} features, to its output with {returned:,}: number by number that can't be done. The next "
        f"block expects {expected:,}, too."
    )
    return headline, reason, remedy
