"""What the worker runs to open checkpoints. torch is imported inside the functions: see ``jobs``."""

from typing import TYPE_CHECKING

from gptviz import resources
from gptviz.checkpoints.errors import printable
from gptviz.session.jobs import BuiltModel, use_threads
from gptviz.session.requests import CheckpointRequest
from gptviz.session.state import ModelInfo
from gptviz.session.worker import JobContext

if TYPE_CHECKING:
    from gptviz.checkpoints import Checkpoint
    from gptviz.tokenizer import Tokenizer

HUB = "hf:"


def open_checkpoint(request: CheckpointRequest, context: JobContext) -> BuiltModel:
    """Open a checkpoint, and find out how its texts are read and written."""
    context.report("Loading PyTorch")
    import torch

    from gptviz.checkpoints import load

    use_threads()
    path = _downloaded(request.path, context)
    name = resources.MODELS.get(request.path) or path.rstrip("/\\").replace("\\", "/").split("/")[-1]
    doing = f"Opening {printable(name)}"
    checkpoint = load(path, request.heads, lambda share: context.report(doing, share))
    tokenizer, vocabulary = _tokenizer(checkpoint, request, context)
    config = checkpoint.model.config
    info = ModelInfo(
        _title(request.path, checkpoint),
        config,
        None,
        checkpoint.parameters,
        torch.get_num_threads(),
        trained=True,
        source=request.path,
        format=checkpoint.format,
        stored_as=checkpoint.stored_as,
        vocabulary=vocabulary,
        notes=checkpoint.notes,
    )
    return BuiltModel(checkpoint.model, info, tokenizer, asks_for_table=vocabulary == BARE and request.asks)


def read_tokens(path: str, vocab_size: int, context: JobContext) -> "Tokenizer":
    """Read a table of tokens for the model on screen."""
    from gptviz.token_table import read_table
    from gptviz.tokenizer import tokenizer_for

    return tokenizer_for(vocab_size, read_table(path, vocab_size))


def table_title(path: str) -> str:
    """Say where the texts of tokens come from."""
    return f"the table {printable(path.rstrip('/').split('/')[-1])}"


BARE = "bare IDs"


def _tokenizer(checkpoint: "Checkpoint", request: CheckpointRequest, context: JobContext) -> "tuple[Tokenizer, str]":
    from gptviz.tokenizer import GPT2_TOKENS, tokenizer_for

    size = checkpoint.model.config.vocab_size
    if request.table is not None:
        return read_tokens(request.table, size, context), table_title(request.table)
    if not checkpoint.gpt2_tokens:
        return tokenizer_for(size, gpt2_tokens=False), BARE
    unused = f", and {size - GPT2_TOKENS:,} unused rows" if size > GPT2_TOKENS else ""
    return tokenizer_for(size), f"GPT-2's{unused}"


def _title(path: str, checkpoint: "Checkpoint") -> str:
    return path.removeprefix(HUB) if path.startswith(HUB) else resources.MODELS.get(path, checkpoint.name)


def _downloaded(path: str, context: JobContext) -> str:
    """Return where the checkpoint is, after fetching it if it is on the Hub."""
    if not path.startswith(HUB):
        return str(resources.model_path(path) or path)
    from gptviz.checkpoints.hub import download

    name = path.removeprefix(HUB)
    return str(download(name, context.report))
