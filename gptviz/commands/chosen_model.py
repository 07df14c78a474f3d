"""Which model a command line asks for: an untrained configuration, or a checkpoint. torch is imported when needed."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gptviz import resources
from gptviz.commands.common import whole_number
from gptviz.model.config import CONFIGS, GPTConfig

if TYPE_CHECKING:
    from gptviz.checkpoints import Checkpoint, Description
    from gptviz.model.gpt import GPTModel
    from gptviz.tokenizer import Tokenizer

DEFAULT_CONFIG, DEFAULT_SEED = "gpt2-small", 123
HUB = "hf:"  # before the name of a model on the Hugging Face Hub


class ChoiceError(Exception):
    """There is no such model; the message says what to change."""


def add_arguments(parser: argparse.ArgumentParser, seed: Callable[[str], int]) -> None:
    """Add the options that say which model; ``seed`` reads a seed."""
    parser.add_argument(
        "--config", choices=list(CONFIGS), help=f"size of an untrained model (default {DEFAULT_CONFIG})"
    )
    parser.add_argument("--seed", type=seed, help=f"seed of its random weights (default {DEFAULT_SEED})")
    parser.add_argument(
        "--weights",
        metavar="PATH",
        help=f"a checkpoint: a file, a folder, hf:owner/name, or what gptviz carries: {', '.join(resources.MODELS)}",
    )
    parser.add_argument(
        "--heads", type=whole_number, metavar="N", help="attention heads of a checkpoint that can't tell"
    )
    parser.add_argument("--table", metavar="FILE", help="a checkpoint's tokens: a text file, one token a line")


@dataclass(frozen=True)
class ChosenModel:
    """A model that was asked for; what it is can be had without its weights."""

    config_name: str
    seed: int
    weights: str | None  # a path, or hf:owner/name
    heads: int | None
    table: str | None

    @cached_property
    def config(self) -> GPTConfig:
        """The settings; of a checkpoint whose heads are not known, with the likeliest number."""
        return CONFIGS[self.config_name] if self.weights is None else self._description.plan.config

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        from gptviz.token_table import TableError, read_table
        from gptviz.tokenizer import tokenizer_for

        size = self.config.vocab_size
        gpt2_tokens = self.weights is None or self._description.gpt2_tokens
        try:
            return tokenizer_for(size, None if self.table is None else read_table(self.table, size), gpt2_tokens)
        except TableError as error:
            raise ChoiceError(str(error)) from error

    @cached_property
    def model(self) -> "GPTModel":
        if self.weights is not None:
            return self._checkpoint.model
        from gptviz.model import initialise

        return initialise(CONFIGS[self.config_name], self.seed)

    @property
    def described(self) -> dict[str, Any]:
        """The model in JSON: where it comes from, and its settings."""
        if self.weights is None:
            origin = {"config": self.config_name, "seed": self.seed, "trained": False}
            return {**origin, **asdict(self.config)}
        checkpoint = self._checkpoint
        return {
            "config": None,
            "seed": None,
            "trained": True,
            "name": checkpoint.name,
            "weights": self.weights,
            "format": checkpoint.format,
            "stored_as": checkpoint.stored_as,
            "parameters": checkpoint.parameters,
            "notes": list(checkpoint.notes),
            **asdict(checkpoint.model.config),
        }

    @cached_property
    def _path(self) -> Path:
        """Where the checkpoint is, after fetching it if it is on the Hub."""
        assert self.weights is not None
        if not self.weights.startswith(HUB):
            return resources.model_path(self.weights) or Path(self.weights)
        from gptviz.checkpoints.hub import download

        return download(self.weights.removeprefix(HUB), _say)

    @cached_property
    def _description(self) -> "Description":
        from gptviz.checkpoints import CheckpointError, HeadsNeeded, describe

        try:
            try:
                return describe(self._path, self.heads)
            except HeadsNeeded as unknown:
                return describe(self._path, unknown.proposal)
        except CheckpointError as error:
            raise ChoiceError(str(error)) from error

    @cached_property
    def _checkpoint(self) -> "Checkpoint":
        from gptviz.checkpoints import CheckpointError, HeadsNeeded, load

        try:
            return load(self._path, self.heads)
        except HeadsNeeded as unknown:
            raise ChoiceError(f"{unknown.why}: add --heads N; --heads {unknown.proposal} is likely") from unknown
        except CheckpointError as error:
            raise ChoiceError(str(error)) from error


def chosen(options: argparse.Namespace) -> ChosenModel:
    """Return the model that ``options`` ask for.

    Raises
    ------
    ChoiceError
        If they contradict each other.
    """
    if options.weights is None:
        for name in ("heads", "table"):
            if getattr(options, name) is not None:
                raise ChoiceError(f"--{name} belongs to a checkpoint: give --weights PATH too")
    elif options.config is not None or options.seed is not None:
        raise ChoiceError("--config and --seed describe an untrained model: leave them out with --weights")
    return ChosenModel(
        options.config or DEFAULT_CONFIG,
        DEFAULT_SEED if options.seed is None else options.seed,
        options.weights,
        options.heads,
        options.table,
    )


def _say(text: str, share: float | None) -> None:
    """Show a download's progress, if somebody is looking."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}" + ("" if share != 1 else "\n"), end="", file=sys.stderr, flush=True)
