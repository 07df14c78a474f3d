"""nanoGPT's ckpt.pt: GPT-2's names with weights stored (out, in), and the settings in ``model_args``."""

from gptviz.checkpoints import gpt2_names, plan
from gptviz.checkpoints.compare import equal
from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.gpt2_names import Weights
from gptviz.checkpoints.plan import Plan, one
from gptviz.checkpoints.settings import settings_with
from gptviz.model.config import GELU_EXACT, GELU_TANH

FORMAT = "nanoGPT"


def plan_for(weights: Weights, heads: int | None) -> Plan:
    """Plan the model; see ``gptviz.checkpoints.load`` for what is raised.

    nanoGPT computes the exact GELU. Checkpoints from before it had the setting ``bias`` (January 2023) were trained
    with the tanh form.
    """
    file, name, names, shapes = weights.file, weights.name, weights.names, weights.shapes
    args = settings_with("n_head", file.rest, ("model_args", "config"))
    stored = gpt2_names.stored_as(names, shapes)
    tied = names.head not in file.entries
    if not tied:
        stored[names.head] = one("out_head.weight", (shapes.V, shapes.E))
    plan.check(stored, file, name, gpt2_names.MASKS, "the other tensors")
    plan.check_sizes(
        args,
        name,
        {"n_layer": shapes.L, "n_embd": shapes.E, "vocab_size": shapes.V, "block_size": shapes.C},
    )
    if args.get("bias") not in (None, shapes.bias):
        raise CheckpointError(
            f"the settings of {name} say bias = {args['bias']}, but its tensors {'have' if shapes.bias else 'lack'} "
            "biases",
            "Save the checkpoint again",
        )
    old = "n_layer" in args and "bias" not in args
    config = plan.make_config(
        name,
        vocab_size=shapes.V,
        context_length=shapes.C,
        emb_dim=shapes.E,
        n_heads=args["n_head"] if "n_head" in args else plan.heads_or_ask(heads, shapes.E, name),
        n_layers=shapes.L,
        drop_rate=args.get("dropout", 0.0),
        qkv_bias=shapes.bias,
        n_inner=None if shapes.F == 4 * shapes.E else shapes.F,
        activation=GELU_TANH if old else GELU_EXACT,
        bias=shapes.bias,
        tie_weights=tied or equal(file, names.embedding, names.head),
    )
    notes = () if args else ("the exact GELU, as in nanoGPT: the file does not say which",)
    return Plan(FORMAT, config, stored, {}, notes)
