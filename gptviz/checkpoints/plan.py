"""What to read: the settings of the model, and for each of its parameters the place in the file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from re import Pattern

from gptviz.checkpoints.errors import CheckpointError, HeadsNeeded, counted, first_few
from gptviz.checkpoints.tensor_file import FLOATS, TensorFile
from gptviz.model.config import ConfigError, GPTConfig

_LONGEST_CONTEXT = 16_384  # positions; the causal mask grows with the square
_USUAL_HEADS = {768: 12, 1024: 16, 1280: 20, 1600: 25}


@dataclass(frozen=True)
class Part:
    """A parameter: of a stored tensor the indices from ``start`` to ``stop`` of ``axis``, maybe transposed."""

    target: str
    axis: int = 0
    start: int = 0
    stop: int | None = None
    transposed: bool = False


@dataclass(frozen=True)
class Stored:
    """A tensor that the file has to hold: its shape, and the parameters that it is cut into."""

    shape: tuple[int, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Plan:
    """How a checkpoint becomes a model. ``drop_rates`` are those of the modules that end so, such as att.dropout."""

    format: str
    config: GPTConfig
    stored: Mapping[str, Stored]
    drop_rates: Mapping[str, float]
    notes: tuple[str, ...] = ()


def one(target: str, shape: tuple[int, ...]) -> Stored:
    """A stored tensor that is a parameter as it is."""
    return Stored(shape, (Part(target),))


def transposed(target: str, shape: tuple[int, ...]) -> Stored:
    """A stored tensor that is the transpose of a parameter."""
    return Stored(shape, (Part(target, transposed=True),))


def fused(prefix: str, kind: str, shape: tuple[int, ...], conv1d: bool) -> Stored:
    """Query, key and value in one tensor: side by side in the last dimension (Conv1D), or one below the other."""
    axis = len(shape) - 1 if conv1d else 0
    width = shape[axis] // 3
    turned = conv1d and len(shape) == 2
    names = ("W_query", "W_key", "W_value")
    parts = (
        Part(f"{prefix}.{name}.{kind}", axis, place * width, (place + 1) * width, turned)
        for place, name in enumerate(names)
    )
    return Stored(shape, tuple(parts))


def make_config(file: str, **settings: object) -> GPTConfig:
    """Make the configuration; what is wrong with it is said of ``file``."""
    try:
        config = GPTConfig(**settings)  # type: ignore[arg-type]
    except ConfigError as error:
        raise CheckpointError(f"the settings in {file} make no model: {error}", "Mend or replace the file") from error
    if config.context_length > _LONGEST_CONTEXT:
        raise CheckpointError(
            f"{file} has a context of {config.context_length:,} positions; gptviz shows at most {_LONGEST_CONTEXT:,}",
            "Choose a model with a shorter context",
        )
    return config


def check(plan_of: Mapping[str, Stored], file: TensorFile, name: str, ignored: Pattern[str], asked_by: str) -> None:
    """Compare what the model needs with what the file holds.

    Raises
    ------
    CheckpointError
        If tensors are missing or surplus, have another shape, or hold no floating-point numbers.
    """
    present = {key for key in file.entries if not ignored.search(key)}
    missing, surplus = plan_of.keys() - present, present - plan_of.keys()
    faults = []
    if missing:
        faults.append(f"lacks {len(missing):,} of the {counted(len(plan_of), 'tensor')} needed ({first_few(missing)})")
    if surplus:
        faults.append(f"has {counted(len(surplus), 'tensor')} that no GPT-2 has ({first_few(surplus)})")
    if faults:
        raise CheckpointError(f"{name} {' and '.join(faults)}", "Choose a complete checkpoint of a GPT-2-shaped model")
    wrong = [key for key, stored in plan_of.items() if file.entries[key].shape != stored.shape]
    if wrong:
        key = next(key for key in plan_of if key in wrong)
        more = f"; {counted(len(wrong) - 1, 'other tensor')} differ too" if len(wrong) > 1 else ""
        raise CheckpointError(
            f"in {name}, {key} has the shape {file.entries[key].shape}, but {asked_by} ask for "
            f"{plan_of[key].shape}{more}",
            "Check that the settings belong to these weights",
        )
    check_types(plan_of, file, name)


def check_sizes(settings: Mapping[str, object], name: str, sizes: Mapping[str, int]) -> None:
    """Refuse settings of a file that contradict its own tensors; a setting may be absent."""
    for key, found in sizes.items():
        if settings.get(key) not in (None, found):
            raise CheckpointError(
                f"the settings of {name} say {key} = {str(settings[key])[:40]}, but its tensors have {found:,}",
                "Save the checkpoint again",
            )


def check_types(keys: Iterable[str], file: TensorFile, name: str) -> None:
    """Refuse weights that are no floating-point numbers, such as quantised ones."""
    strange = {key: file.entries[key].dtype for key in keys if file.entries[key].dtype not in FLOATS}
    if strange:
        key, dtype = next(iter(strange.items()))
        raise CheckpointError(
            f"in {name}, {key} is stored as {dtype}; gptviz reads {', '.join(FLOATS.values())}",
            "Take the original weights: quantised ones are not shown",
        )


def size_of(file: TensorFile, key: str, name: str, dims: int = 2) -> tuple[int, ...]:
    """Return the shape of a tensor that the sizes of the model are read off."""
    if key not in file.entries:
        raise CheckpointError(f"{name} lacks the tensor {key}", "Choose a complete checkpoint of a GPT-2-shaped model")
    shape = file.entries[key].shape
    if len(shape) != dims or 0 in shape:
        raise CheckpointError(f"in {name}, {key} has the shape {shape}, and no model is made of that", "Save it again")
    return shape


def block_count(keys: Iterable[str], prefix: str, name: str) -> int:
    """Count the blocks, which are numbered from 0 after ``prefix``."""
    numbers = {key.removeprefix(prefix).split(".")[0] for key in keys if key.startswith(prefix)}
    layers = sorted(int(number) for number in numbers if number.isdecimal() and len(number) < 7)
    if not layers:
        raise CheckpointError(f"{name} has no blocks", "Choose a complete checkpoint of a GPT-2-shaped model")
    if layers != list(range(len(layers))):
        absent = next(number for number in range(len(layers)) if number not in layers)
        raise CheckpointError(
            f"{name} has {counted(len(layers), 'block')} up to number {layers[-1]}, but no block {absent}",
            "Choose a complete checkpoint",
        )
    return len(layers)


def heads_or_ask(heads: int | None, emb_dim: int, name: str) -> int:
    """Return ``heads`` if it was given and is possible; ask for it otherwise."""
    choices = tuple(number for number in range(1, emb_dim + 1) if emb_dim % number == 0)
    if heads is None:
        raise HeadsNeeded(name, emb_dim, choices, propose_heads(emb_dim))
    if heads not in choices:
        raise CheckpointError(
            f"{emb_dim} features can't be dealt out to {counted(heads, 'head')} evenly",
            f"Give a divisor of {emb_dim}, such as {propose_heads(emb_dim)}",
        )
    return heads


def propose_heads(emb_dim: int) -> int:
    """Propose GPT-2's own number of heads, or the one whose heads have about as many features as is usual."""
    if emb_dim in _USUAL_HEADS:
        return _USUAL_HEADS[emb_dim]
    usual = next(size for least, size in ((256, 64), (128, 32), (32, 16), (0, 8)) if emb_dim >= least)
    choices = (number for number in range(1, emb_dim + 1) if emb_dim % number == 0)
    return min(choices, key=lambda number: (abs(emb_dim // number - usual), -number))
