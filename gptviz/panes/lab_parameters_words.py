"""What the lab of parameters writes."""

from typing import TYPE_CHECKING

from gptviz.widgets.share_bar import Share
from gptviz.widgets.text import data_size, shape
from gptviz.widgets.value_table import Row

if TYPE_CHECKING:
    from gptviz.labs.parameters import ParameterTable, SizeRow, TensorRow

_FP32, _FP16 = 4, 2  # bytes of a number
_TITLES = {
    "gpt2-small": "GPT-2 small",
    "gpt2-medium": "GPT-2 medium",
    "gpt2-large": "GPT-2 large",
    "gpt2-xl": "GPT-2 XL",
    "": "as edited",
}
_COMPONENTS = {
    "tok_emb": ("Token embedding", "embedding"),
    "pos_emb": ("Position embedding", "embedding"),
    "trf_blocks": ("Blocks", "attention"),
    "final_norm": ("Final norm", "norm"),
    "out_head": ("Output head", "head"),
}
_FAMILIES = {
    "embedding": "embeddings",
    "attention": "attention",
    "feed-forward": "feed-forward",
    "norm": "norms",
    "head": "output head",
}


def figures(table: "ParameterTable") -> tuple[str, ...]:
    """Return the four large figures; the memory is that of the model as configured."""
    size = table.size
    return (
        f"{size.as_coded:,}",
        f"{size.tied:,}",
        data_size(_FP32 * table.total),
        data_size(_FP16 * table.total),
    )


def name_of(table: "ParameterTable") -> str:
    """Say how the count as coded becomes the one in the name."""
    size, config = table.size, table.config
    shared = (
        f"The published GPT-2 uses the token embedding's matrix a second time, as its output head (weight tying). "
        f"Without a head of its own, V · E = {config.vocab_size:,} · {config.emb_dim:,} = {table.head:,} numbers are "
        f"saved: {size.as_coded:,} − {table.head:,} = {size.tied:,}"
    )
    bias = 3 * config.emb_dim * config.n_layers
    if not size.called:
        return f"{shared}."
    return (
        f"{shared}. With the published model's biases for queries, keys and values, 3 · E · L = {bias:,} more, it is "
        f"{size.as_published:,}: hence {size.called}."
    )


def shares(table: "ParameterTable") -> list[Share]:
    """Return the shares of the families."""
    counts = table.families()
    return [Share(title, family, counts.get(family, 0)) for family, title in _FAMILIES.items()]


def tensor_rows(table: "ParameterTable", setting: str) -> list[Row]:
    """Write the components and their tensors; those that ``setting`` controls stand out."""
    rows = []
    components = table.components()
    before = ""
    for tensor in table.tensors:
        if tensor.component != before:
            before = tensor.component
            rows.append(_component_row(before, components[before], table))
        rows.append(_tensor_row(tensor, table, setting))
    return rows


def _component_row(component: str, count: int, table: "ParameterTable") -> Row:
    title, family = _COMPONENTS[component]
    many = f" × {table.config.n_layers:,}" if component == "trf_blocks" else ""
    cells = (f"{title}{many}", "", "", "", f"{count:,}", _percent(count, table.total), "")
    return Row(cells, tones=("",), family=None if component == "trf_blocks" else family, strong=True)


def _tensor_row(tensor: "TensorRow", table: "ParameterTable", setting: str) -> Row:
    marked = setting in tensor.settings
    tone = "accent" if marked else ""
    cells = (
        f"   {tensor.name}",
        shape(tensor.shape),
        tensor.symbolic,
        tensor.numeric,
        f"{tensor.total:,}" if tensor.times else "shared",
        _percent(tensor.total, table.total),
        ", ".join(tensor.settings),
    )
    other = tone or "muted"
    return Row(cells, tones=(tone, other, other, other, tone, other, other), family=tensor.family, tip=_tip(tensor))


def _tip(tensor: "TensorRow") -> str:
    return f"{tensor.name}: {tensor.symbolic} = {tensor.numeric} = {tensor.total:,}"


def controlled(table: "ParameterTable", setting: str) -> str:
    """Say which tensors ``setting`` controls; how to ask where it is empty."""
    if not setting:
        return "Click into a setting to see which tensors it controls."
    if setting == "n_heads":
        heads = table.config.n_heads
        return f"n_heads changes no tensor: it cuts E into {heads:,} heads of {table.config.head_dim:,} features."
    if setting == "drop_rate":
        return "drop_rate changes no tensor: dropout has no parameters."
    if setting == "qkv_bias" and not table.config.qkv_bias:
        added = 3 * table.config.emb_dim * table.config.n_layers
        return f"qkv_bias adds three tensors to each block, {added:,} parameters in all."
    count = sum(setting in tensor.settings for tensor in table.tensors)
    return f"{setting} controls {count} of these {len(table.tensors)} tensors."


def size_rows(table: "ParameterTable", sizes: "tuple[SizeRow, ...]") -> list[Row]:
    """Write GPT-2's four sizes, and the edited configuration if it is none of them."""
    rows = [_size_row(size, size.key == table.size.key) for size in sizes]
    return rows if table.size.key else [*rows, _size_row(table.size, True)]


def _size_row(size: "SizeRow", present: bool) -> Row:
    config = size.config
    own = size.tied if config.tie_weights else size.as_coded
    cells = (
        _TITLES[size.key],
        f"{config.emb_dim:,}",
        f"{config.n_layers:,}",
        f"{config.n_heads:,}",
        f"{size.as_coded:,}",
        f"{size.tied:,}",
        f"{size.as_published:,}",
        size.called,
        data_size(_FP32 * own),
        data_size(_FP16 * own),
    )
    return Row(cells, tones=("accent",) * len(cells) if present else (), strong=present)


def _percent(count: int, whole: int) -> str:
    part = 100 * count / whole
    return f"{part:.1f} %" if part >= 0.05 or not count else "< 0.1 %"
