"""Opening a checkpoint of whatever format."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gptviz.checkpoints import chapter, gpt2_names, hugging_face, nanogpt
from gptviz.checkpoints.build import build
from gptviz.checkpoints.errors import CheckpointError, first_few
from gptviz.checkpoints.files import Found, find, read_json
from gptviz.checkpoints.plan import Plan
from gptviz.checkpoints.recognise import open_tensors
from gptviz.checkpoints.sharded import ShardedFile
from gptviz.checkpoints.tensor_file import TensorFile
from gptviz.checkpoints.vocabulary import has_gpt2_tokens
from gptviz.model.gpt import GPTModel

# a piece of a tensor's name, and whose it is
_STRANGERS = (
    ("model.layers.0.self_attn.q_proj", "Llama or a relative of it"),
    ("gpt_neox.", "GPT-NeoX"),
    ("transformer.h.0.attn.attention.", "GPT-Neo"),
    ("self_attention.query_key_value", "Bloom or Falcon"),
    ("decoder.layers.0.self_attn.", "OPT"),
    ("bert.", "BERT"),
    ("lora_A", "a LoRA adapter"),
    ("double_blocks.", "a diffusion model"),
)


@dataclass(frozen=True)
class Checkpoint:
    """A model as it was saved, in eval mode and in fp32, and what is known of where it comes from.

    ``name`` is what to call it, ``stored_as`` the type of the file's numbers, such as fp16. ``notes`` say what a
    person should know besides, such as what the file does not tell. ``gpt2_tokens`` tells whether its IDs are those
    of GPT-2's tokens; the vocabulary may have rows beyond them.
    """

    model: GPTModel
    name: str
    path: Path
    format: str
    stored_as: str
    gpt2_tokens: bool
    notes: tuple[str, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether the output head and the token embedding are one matrix."""
        return self.model.config.tie_weights

    @property
    def parameters(self) -> int:
        """How many numbers the model has; a shared matrix counts once."""
        return sum(parameter.numel() for parameter in self.model.parameters())


@dataclass(frozen=True)
class Description:
    """What a checkpoint's files say before any weights are read; ``heads`` is None where they don't tell."""

    name: str
    format: str
    gpt2_tokens: bool
    plan: Plan


def load(path: str | Path, heads: int | None = None, on_progress: Callable[[float], None] | None = None) -> Checkpoint:
    """Open the checkpoint at ``path``: a file, a folder, or an index of shards; the format is told by the content.

    Parameters
    ----------
    path
        safetensors or PyTorch's format, with the names of Hugging Face's GPT-2, nanoGPT, or the chapter.
    heads
        The number of attention heads, for files that can't tell.
    on_progress
        Called with the share that was read, from 0 to 1; an exception that it raises ends the work.

    Raises
    ------
    HeadsNeeded
        If the file can't tell the number of heads, and ``heads`` is None.
    CheckpointError
        If it is no checkpoint of a GPT-2-shaped model, damaged, not complete, or not to be trusted.
    """
    path = Path(path)
    with _explaining(path):
        found = find(path)
        stamp = found.stamp
        file = _open(found)
        plan = _plan(file, found, heads)
        model = build(plan, file, on_progress)
        gpt2_tokens = has_gpt2_tokens(found, plan.config.vocab_size)
        if found.stamp != stamp:
            raise CheckpointError(f"{found.name} was changed while it was being read", "Open it again")
    types = sorted({file.entries[key].stored_as for key in plan.stored if key in file.entries})
    stored_as = " and ".join(types)
    notes = plan.notes if types == ["fp32"] else (f"stored as {stored_as}, computed in fp32", *plan.notes)
    return Checkpoint(model, found.name, path, plan.format, stored_as, gpt2_tokens, notes)


def describe(path: str | Path, heads: int | None = None) -> Description:
    """Read what a checkpoint is, without its weights; raises what ``load`` raises."""
    path = Path(path)
    with _explaining(path):
        found = find(path)
        plan = _plan(_open(found), found, heads)
        return Description(found.name, plan.format, has_gpt2_tokens(found, plan.config.vocab_size), plan)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Say of the file what the system says while it is read."""
    try:
        yield
    except FileNotFoundError as error:  # it was there when it was looked for
        name = Path(error.filename or path).name
        raise CheckpointError(f"{name} vanished while it was being read", "Look where it went") from error
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {error.strerror or error}", "Check the file") from error
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            raise CheckpointError(f"{path.name} needs more memory than there is", "Choose a smaller model") from error
        raise


def _open(found: Found) -> TensorFile:
    if found.places:
        return ShardedFile(found.weights, found.places)
    return open_tensors(found.weights[0])


def _plan(file: TensorFile, found: Found, heads: int | None) -> Plan:
    if chapter.prefix_of(file) is not None:
        return chapter.plan_for(file, found.name, heads)
    weights = gpt2_names.weights_in(file, found)
    if weights is None:
        raise _stranger(file, found)
    return hugging_face.plan_for(weights, heads) if weights.shapes.conv1d else nanogpt.plan_for(weights, heads)


def _stranger(file: TensorFile, found: Found) -> CheckpointError:
    """Say what a file with other tensors is: by config.json, by a name that is known, or by its first names."""
    if found.config is not None:
        hugging_face.check_kind(read_json(found.config), found.name)
    kind = next((kind for piece, kind in _STRANGERS if any(piece in key for key in file.entries)), None)
    tensors = f"its tensors are {first_few(file.entries)}" if file.entries else "it has no tensors"
    return CheckpointError(
        f"{found.name} is no GPT-2{f' but {kind}' if kind else ''}: {tensors}",
        "gptviz opens GPT-2's architecture alone: choose such a model",
    )
