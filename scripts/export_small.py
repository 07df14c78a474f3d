"""Write what train_small.py trained as gptviz carries it, with its card: measured here, on the written file.

`python scripts/export_small.py --text FILE --work FOLDER --out resources/shakespeare`

The folder is a Hugging Face GPT-2 (config.json, model.safetensors in fp16), which transformers reads as well.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from train_small import VOCABULARY, Corpus, held_out_loss

from gptviz.checkpoints import load
from gptviz.model import GPTModel, initialise
from gptviz.tokenizer import gpt2_tokenizer

SAMPLE = 27  # of the training text, one window in so many is measured
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
            for name, hugging in (("att.out_proj", "attn.c_proj"), ("ff.layers.0", "mlp.c_fc"), ("ff.layers.2", "mlp.c_proj")):
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
    untrained = initialise(model.config, seed=123)
    for parameter in (untrained.tok_emb.weight, untrained.pos_emb.weight):
        torch.nn.init.normal_(parameter, std=0.02)
    return {
        "train": loss(train, every=SAMPLE),
        "held_out": loss(held_out),
        "excerpt": loss(excerpt),
        "untrained": loss(excerpt, untrained),
        "new_share": 1 - float(known.float().mean()),
        "never_mass": float(never),
        "never_gap": float(best_never),
        "excerpt_tokens": len(excerpt),
    }


def written_card(
    saved: dict[str, Any], last: dict[str, Any], corpus: Corpus, figures: dict[str, float], model: GPTModel
) -> str:
    s, progress = saved["settings"], saved["progress"]
    parameters = sum(p.numel() for p in model.parameters())
    repeated = s["repeats"] / s["batch"]
    return f"""# Shakespeare (small, trained)

A GPT-2-shaped language model that `scripts/train_small.py` trained on two CPU cores, written and measured by
`scripts/export_small.py`. It is in the box so that there is something to look at without a network: heads that have
learned something, and text that is more than noise.

## What it is

| | |
|---|---|
| shape | {s["layers"]} blocks, {s["heads"]} heads, {s["features"]} features, context {s["context"]} |
| parameters | {parameters:,}; output head and token embedding are one matrix |
| tokenizer | GPT-2's, all {VOCABULARY:,} tokens |
| file | Hugging Face GPT-2 (`config.json`, `model.safetensors`), fp16; computed in fp32 |

## Data

Plays of William Shakespeare (public domain), one plain text of {len(corpus.train) + len(corpus.held_out):,} GPT-2 tokens
(SHA-256 `{corpus.sha256}`). The first {len(corpus.train):,} tokens were trained on, the last
{len(corpus.held_out):,} were held out. The text is not part of gptviz, but for an excerpt of the held-out part that the
tests use.

{s["repeats"]} of every {s["batch"]} rows of a batch ({100 * repeated:.1f} %) held no text but random tokens, the same few said over and over;
there only the repetitions counted. That is what teaches the model to continue a repetition early on; a model this small
would need far more text to come to it alone.

## Training

| | |
|---|---|
| steps | {last["step"]:,} of {s["batch"]} rows of {s["context"]} tokens: {last["tokens"]:,} tokens in all; the best was kept, after step {progress["step"]:,} |
| seed | {s["seed"]} |
| optimiser | AdamW, rate {s["peak"]:g} after {s["warm_up"]} steps, falling to 0 from step {last["decay_from"]:,} on; weight decay {s["weight_decay"]:g} |
| dropout | {s["dropout"]:g} after the embeddings and at the shortcuts, none on attention weights |
| time | {last["seconds"] / 60:.0f} minutes on two cores that were busy with other things too |

## Loss, as measured on this file

Cross-entropy in nats a token over the whole vocabulary, in windows of {s["context"]} tokens that don't overlap.

| | loss | perplexity |
|---|---|---|
| the text it was trained on, one window in {SAMPLE} | {figures["train"]:.3f} | {math.exp(figures["train"]):,.0f} |
| held-out text | {figures["held_out"]:.3f} | {math.exp(figures["held_out"]):,.0f} |
| the excerpt in `tests/held_out_excerpt.txt` ({figures["excerpt_tokens"]:.0f} tokens) | {figures["excerpt"]:.3f} | {math.exp(figures["excerpt"]):,.0f} |
| the excerpt, same shape, untrained | {figures["untrained"]:.3f} | {math.exp(figures["untrained"]):,.0f} |
| any text, all tokens alike: ln {VOCABULARY:,} | {math.log(VOCABULARY):.3f} | {VOCABULARY:,} |

## Tokens that never occurred

{VOCABULARY - corpus.unknown:,} of GPT-2's {VOCABULARY:,} tokens do not occur in the text that was trained on. They share one row of the
embedding, and in training it had as many places in the softmax as there are such tokens. So their logits were pushed
down by the loss itself, as measured over the whole vocabulary: on held-out text all of them together have a probability
of {figures["never_mass"]:.1e} on average, and none ever comes closer than {-figures["never_gap"]:.1f} to the largest logit. As input, the row stands for
"some other word": {100 * s["unknown_rate"]:g} % of the tokens that were read in training were replaced by it. {100 * figures["new_share"]:.1f} % of the held-out
tokens are such tokens; the model can't foresee them, and they count fully in the loss.

## What it can't do

It has seen one small text. It writes lines that look like a play, with speakers and something like verse, and no sense
over more than a few words. It knows nothing of the world and of today's English, follows no instruction, answers no
question, and sees {s["context"]} tokens at most. Names and words that Shakespeare doesn't use are all the same to it. It has
learned much of its training text by heart, as the two losses show. It is made to be looked at, and for nothing else.
"""


if __name__ == "__main__":
    main()
