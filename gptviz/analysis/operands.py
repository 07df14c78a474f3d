"""Which stages a stage is computed from."""

from gptviz.capture.stages import Stage, block_input_name, block_name
from gptviz.model.config import GPTConfig

# Within a block, by local name; {in} is the block's input.
_IN_BLOCK = {
    "norm1": ("{in}",),
    "att.W_query": ("norm1",),
    "att.W_key": ("norm1",),
    "att.W_value": ("norm1",),
    "att.queries": ("att.W_query",),
    "att.keys": ("att.W_key",),
    "att.values": ("att.W_value",),
    "att.scores": ("att.queries", "att.keys"),
    "att.scaled": ("att.scores",),
    "att.masked": ("att.scaled",),
    "att.weights": ("att.masked",),
    "att.dropout": ("att.weights",),
    "att.context": ("att.dropout", "att.values"),
    "att.merged": ("att.context",),
    "att.out_proj": ("att.merged",),
    "drop_shortcut1": ("att.out_proj",),
    "shortcut1": ("drop_shortcut1", "{in}"),
    "norm2": ("shortcut1",),
    "ff.layers.0": ("norm2",),
    "ff.layers.1": ("ff.layers.0",),
    "ff.layers.2": ("ff.layers.1",),
    "drop_shortcut2": ("ff.layers.2",),
    "shortcut2": ("drop_shortcut2", "shortcut1"),
}
_OUTSIDE = {
    "ids": (),
    "tok_emb": ("ids",),
    "pos_emb": (),  # of the positions 0 … T - 1, which are no stage
    "embeddings": ("tok_emb", "pos_emb"),
    "drop_emb": ("embeddings",),
    "final_norm": ("{last block}",),
    "out_head": ("final_norm",),
    "last": ("out_head",),
    "next": ("last",),
}


def inputs_of(stage: Stage, config: GPTConfig) -> tuple[str, ...]:
    """Return the names of the stages that ``stage`` is computed from, in the order in which it takes them."""
    if stage.layer is None:
        last_block = f"{block_name(config.n_layers - 1)}.shortcut2"
        return tuple(name.replace("{last block}", last_block) for name in _OUTSIDE[stage.name])
    prefix, source = f"{block_name(stage.layer)}.", block_input_name(stage.layer)
    return tuple(source if name == "{in}" else prefix + name for name in _IN_BLOCK[stage.local_name])


def stream_stages(config: GPTConfig) -> tuple[str, ...]:
    """List the stages at which the residual stream can be read, in execution order."""
    inside = (f"{block_name(layer)}.shortcut{half}" for layer in range(config.n_layers) for half in (1, 2))
    return "embeddings", "drop_emb", *inside
