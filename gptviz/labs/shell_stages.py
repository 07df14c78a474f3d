"""Which stages a shell has: the catalogue's where its parts are real, and one for each placeholder."""

from collections.abc import Iterator
from dataclasses import replace

from gptviz.capture.stages import Family, Source, Stage, block_name, catalogue
from gptviz.model.placeholders import (
    DummyAttention,
    DummyFeedForward,
    DummyGPTModel,
    DummyLayerNorm,
    DummyTransformerBlock,
    UnfinishedBlock,
)

PLACEHOLDER = "returns its input"


def shell_stages(model: DummyGPTModel) -> tuple[Stage, ...]:
    """List the stages of ``model`` in the order of execution, up to the logits."""
    found: dict[str, Stage] = {}  # a placeholder stands for several stages of the catalogue
    for stage in catalogue(model.config):
        if stage.source is not Source.AFTER:
            for mine in _of_shell(stage, model):
                found.setdefault(mine.name, mine)
    return tuple(replace(stage, index=index) for index, stage in enumerate(found.values()))


def _of_shell(stage: Stage, model: DummyGPTModel) -> Iterator[Stage]:
    """Yield ``stage``, the placeholder that stands for it, or nothing."""
    if stage.layer is None:
        dummy = stage.name == "final_norm" and isinstance(model.final_norm, DummyLayerNorm)
        yield _placeholder(stage, "final_norm", Family.NORM) if dummy else stage
        return
    block = model.trf_blocks[stage.layer]
    if isinstance(block, DummyTransformerBlock):
        yield _placeholder(stage, "", Family.SHORTCUT)
    elif isinstance(block, UnfinishedBlock):
        yield from _of_unfinished(stage, block)
    else:
        yield stage


def _of_unfinished(stage: Stage, block: UnfinishedBlock) -> Iterator[Stage]:
    if stage.family is Family.SHORTCUT:
        if block.drop_shortcut is not None:
            yield stage
        return
    part = stage.local_name.split(".")[0]
    module = block.get_submodule(part)
    if isinstance(module, DummyLayerNorm | DummyAttention | DummyFeedForward):
        yield _placeholder(stage, part, stage.family)
    else:
        yield stage


def _placeholder(stage: Stage, part: str, family: Family) -> Stage:
    """Make the stage of a placeholder; ``part`` is its name within the block, empty for a whole block."""
    name = part
    if stage.layer is not None:
        name = f"{block_name(stage.layer)}.{part}" if part else block_name(stage.layer)
    return Stage(0, name, PLACEHOLDER, family, stage.layer, "BTE", name, Source.OUTPUT)
