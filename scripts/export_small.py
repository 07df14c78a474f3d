"""Write what train_small.py trained as gptviz carries it, with its card: measured here, on the written file.

`python scripts/export_small.py --text FILE --work FOLDER --out resources/shakespeare`

The folder is a Hugging Face GPT-2 (config.json, model.safetensors in fp16), which transformers reads as well.
"""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from train_small import VOCABULARY, Corpus, held_out_loss

from gptviz.analysis.heads import SCORE_NAMES
from gptviz.checkpoints import load
from gptviz.commands.head_report import report_on_probe
from gptviz.model import GPTModel, initialise
from gptviz.tokenizer import gpt2_tokenizer

SAMPLE = 27  # of the training text, one window in so many is measured
CARD = Path(__file__).with_name("small_model_card.md")
EXCERPT = Path(__file__).parent.parent / "tests" / "held_out_excerpt.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(2)
    text = options.text.read_text(encoding="utf-8")
    corpus = Corpus(text)
    saved = torch.load(options.work / "best.pt", weights_only=True)
    last = torch.load(options.work / "last.pt", weights_only=True)["progress"]
    if saved["sha256"] != corpus.sha256:
        raise SystemExit(f"{options.work} was trained on another text")
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(conv1d_tensors(saved["model"], corpus), options.out / "model.safetensors", {"format": "pt"})
    (options.out / "model.safetensors").chmod(0o644)
    (options.out / "config.json").write_text(json.dumps(config(saved["settings"]), indent=2) + "\n", encoding="utf-8")
    model = load(options.out).model
    card = written_card(saved, last, corpus, measured(model, text, corpus), model)
    (options.out / "MODEL_CARD.md").write_text(card, encoding="utf-8")
    print(card)


def conv1d_tensors(state: dict[str, Tensor], corpus: Corpus) -> dict[str, Tensor]:
    """Name and lay out the tensors as GPT-2 was published: (in, out), with query, key and value side by side."""
    rows = torch.full((VOCABULARY,), corpus.unknown)  # whose row of the trained embedding each token has
    rows[corpus.occurring] = torch.arange(corpus.unknown)
    out = {"wte.weight": state["tok_emb.weight"][rows], "wpe.weight": state["pos_emb.weight"]}
    for layer in range(sum(name.endswith("norm1.scale") for name in state)):
        ours, theirs = f"trf_blocks.{layer}.", f"h.{layer}."
        for kind in ("weight", "bias"):
            parts = [state[f"{ours}att.W_{name}.{kind}"] for name in ("query", "key", "value")]
            out[f"{theirs}attn.c_attn.{kind}"] = torch.cat(parts).T if kind == "weight" else torch.cat(parts)
            for name, hugging in (
                ("att.out_proj", "attn.c_proj"),
                ("ff.layers.0", "mlp.c_fc"),
                ("ff.layers.2", "mlp.c_proj"),
            ):
                tensor = state[f"{ours}{name}.{kind}"]
                out[f"{theirs}{hugging}.{kind}"] = tensor.T if kind == "weight" else tensor
        for norm in ("1", "2"):
            out[f"{theirs}ln_{norm}.weight"] = state[f"{ours}norm{norm}.scale"]
            out[f"{theirs}ln_{norm}.bias"] = state[f"{ours}norm{norm}.shift"]
    out["ln_f.weight"], out["ln_f.bias"] = state["final_norm.scale"], state["final_norm.shift"]
    return {f"transformer.{name}": tensor.half().contiguous() for name, tensor in out.items()}


def config(settings: dict[str, Any]) -> dict[str, object]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": VOCABULARY,
        "n_positions": settings["context"],
        "n_embd": settings["features"],
        "n_layer": settings["layers"],
        "n_head": settings["heads"],
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "embd_pdrop": settings["dropout"],
        "resid_pdrop": settings["dropout"],
        "attn_pdrop": 0.0,
        "tie_word_embeddings": True,
        "bos_token_id": 50256,
        "eos_token_id": 50256,
        "torch_dtype": "float16",
    }


def measured(model: GPTModel, text: str, corpus: Corpus) -> dict[str, float]:
    """Measure the written model itself, over GPT-2's whole vocabulary."""
    ids = torch.tensor(gpt2_tokenizer().encode(text))
    cut = len(corpus.train)
    train, held_out = ids[:cut], ids[cut:]
    excerpt = torch.tensor(gpt2_tokenizer().encode(EXCERPT.read_text(encoding="utf-8")))
    context = model.config.context_length

    def loss(part: Tensor, of: GPTModel = model, every: int = 1) -> float:
        return held_out_loss(of, part, context, log_sharing=0.0, rows=2, every=every)

    occurs = torch.zeros(VOCABULARY, dtype=torch.bool)
    occurs[corpus.occurring] = True
    windows = (len(held_out) - 1) // context
    with torch.no_grad():
        logits = model.eval()(held_out[: 16 * context].view(16, context)).flatten(0, 1)
        never = logits.softmax(dim=-1)[:, ~occurs].sum(dim=-1).mean()
        best_never = (logits[:, ~occurs].max(dim=-1).values - logits.max(dim=-1).values).max()
    known = occurs[held_out[1 : windows * context + 1]]
    untrained = initialise(replace(model.config, tie_weights=False), seed=123)
    return {
        "train": loss(train, every=SAMPLE),
        "held_out": loss(held_out),
        "excerpt": loss(excerpt),
        "untrained": loss(excerpt, untrained),
        "new_share": 100 - 100 * float(known.float().mean()),
        "never_mass": float(never),
        "never_gap": -float(best_never),
        "excerpt_tokens": len(excerpt),
        **best_scores(model),
    }


def best_scores(model: GPTModel) -> dict[str, float]:
    """Measure the highest score that any head has on the probe, beside that of uniform attention."""
    report, figures = report_on_probe(model.eval()), {}
    for name in ("previous", "induction"):
        place = SCORE_NAMES.index(name)
        figures |= {f"best_{name}": float(report.scores[:, :, place].max())}
        figures |= {f"uniform_{name}": float(report.uniform[place])}
    return figures


def written_card(
    saved: dict[str, Any], last: dict[str, Any], corpus: Corpus, figures: dict[str, float], model: GPTModel
) -> str:
    """Fill the template in: settings and measured figures by their names, losses as perplexities too."""
    losses = ("train", "held_out", "excerpt", "untrained")
    perplexities = {f"{name}_perplexity": math.exp(figures[name]) for name in losses}
    settings = saved["settings"]
    return CARD.read_text(encoding="utf-8").format(
        **settings,
        **figures,
        **perplexities,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        longest=settings["context"] // 2,
        unknown_share=100 * settings["unknown_rate"],
        vocabulary=VOCABULARY,
        uniform=math.log(VOCABULARY),
        sample=SAMPLE,
        sha256=corpus.sha256,
        all_tokens=len(corpus.train) + len(corpus.held_out),
        train_tokens=len(corpus.train),
        held_out_tokens=len(corpus.held_out),
        never=VOCABULARY - corpus.unknown,
        steps=last["step"],
        tokens_read=last["tokens"],
        best_step=saved["progress"]["step"],
        decay_from=last["decay_from"],
        minutes=last["seconds"] / 60,
    )


if __name__ == "__main__":
    main()
