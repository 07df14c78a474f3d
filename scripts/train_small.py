"""Train the small model that gptviz carries: `python scripts/train_small.py --text FILE --work FOLDER`.

Two CPU cores, an hour or two. Call it again with the same arguments after an interruption (Ctrl+C, a kill, a power
cut): it goes on where its last checkpoint stands, with the same numbers as if nothing had happened, because the data
and the dropout of a step depend on the seed and the number of the step alone. A file named `finish` in the work folder
asks for an early end: the learning rate falls from there, so the model is whole, just shorter trained.
The best model on held-out text is written as a Hugging Face GPT-2 folder.
"""

import argparse
import hashlib
import math
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType, MethodType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from gptviz.model import GPTConfig, GPTModel
from gptviz.model.attention import MultiHeadAttention
from gptviz.tokenizer import gpt2_tokenizer

VOCABULARY = 50257
HELD_OUT = 0.1  # the last tenth of the text


@dataclass(frozen=True)
class Settings:
    """All that the result depends on, beside the text."""

    seed: int = 123
    layers: int = 6
    heads: int = 6
    features: int = 192
    context: int = 128
    dropout: float = 0.2
    batch: int = 12
    repeats: int = 3  # rows of a batch that say the same few tokens over and over
    unknown_rate: float = 0.01  # of input tokens that are replaced by the token for all that never occurred
    peak: float = 1.5e-3
    warm_up: int = 100
    decay_share: float = 0.35  # of all steps, at the end
    weight_decay: float = 0.1
    bf16: bool = False

    def config(self, vocabulary: int) -> GPTConfig:
        return GPTConfig(
            vocab_size=vocabulary,
            context_length=self.context,
            emb_dim=self.features,
            n_heads=self.heads,
            n_layers=self.layers,
            drop_rate=self.dropout,
            qkv_bias=True,
            tie_weights=True,
        )


class Corpus:
    """The text as small IDs: 0 … K-1 for tokens that occur in the training part, K for all others together."""

    def __init__(self, text: str) -> None:
        ids = torch.tensor(gpt2_tokenizer().encode(text))
        cut = round(len(ids) * (1 - HELD_OUT))
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.occurring = ids[:cut].unique()  # (K,) GPT-2's IDs, ascending
        self.unknown = len(self.occurring)  # K
        small = torch.full((VOCABULARY,), self.unknown)
        small[self.occurring] = torch.arange(self.unknown)
        self.train, self.held_out = small[ids[:cut]], small[ids[cut:]]

    @property
    def log_sharing(self) -> float:
        """ln of the number of GPT-2's tokens that share the row K."""
        return math.log(VOCABULARY - self.unknown)


# --- model ---------------------------------------------------------------------------------------------------


def new_model(settings: Settings, vocabulary: int) -> GPTModel:
    """GPT-2's initialisation (Radford et al. 2019): normal; what is added to the residual stream is smaller.

    Its standard deviation of 0.02 is for 768 features; products over fewer features need larger weights.
    """
    torch.manual_seed(settings.seed)
    model = GPTModel(settings.config(vocabulary))
    for name, parameter in model.named_parameters():
        if name.endswith(("bias", "shift")):
            nn.init.zeros_(parameter)
        elif not name.endswith("scale"):
            spread = 0.02 if "emb" in name else 0.02 * math.sqrt(768 / settings.features)
            into_residual = name.endswith(("out_proj.weight", "layers.2.weight"))
            nn.init.normal_(parameter, std=spread / math.sqrt(2 * settings.layers) if into_residual else spread)
    return model


def use_fused_attention(model: GPTModel) -> None:
    """Compute the same attention in one kernel, without the dropout on its weights."""

    def forward(self: MultiHeadAttention, x: Tensor) -> Tensor:
        queries, keys, values = self.queries(self.W_query(x)), self.keys(self.W_key(x)), self.values(self.W_value(x))
        context = scaled_dot_product_attention(queries, keys, values, is_causal=True)
        out: Tensor = self.out_proj(self.merged(context))
        return out

    for block in model.trf_blocks:
        block.att.forward = MethodType(forward, block.att)  # type: ignore[assignment, union-attr]


def loss_of(model: GPTModel, inputs: Tensor, targets: Tensor, log_sharing: float, bf16: bool = False) -> Tensor:
    """Cross-entropy (nats a token) over GPT-2's whole vocabulary; targets (B, T) of -100 don't count.

    Tokens that never occurred have one row, so one logit, but as many places in the softmax as there are of them.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits = model(inputs)  # (B, T, K + 1)
    logits = logits.float()
    unknown = logits.shape[-1] - 1
    shared = torch.zeros(unknown + 1)
    shared[unknown] = log_sharing
    losses = cross_entropy((logits + shared).flatten(0, 1), targets.flatten(), reduction="none")
    losses = losses + log_sharing * (targets.flatten() == unknown)  # one of them, not any of them
    return losses.sum() / (targets != -100).sum()


@torch.no_grad()
def held_out_loss(
    model: GPTModel, ids: Tensor, context: int, log_sharing: float, *, rows: int = 16, every: int = 1
) -> float:
    """Mean loss over windows of ``context`` tokens that don't overlap, or over one in ``every`` of them."""
    model.eval()
    windows = (len(ids) - 1) // context
    inputs = ids[: windows * context].view(windows, context)[::every]
    targets = ids[1 : windows * context + 1].view(windows, context)[::every]
    parts = zip(inputs.split(rows), targets.split(rows), strict=True)
    total = sum(float(loss_of(model, a, b, log_sharing)) * len(a) for a, b in parts)
    model.train()
    return total / len(inputs)


# --- data ----------------------------------------------------------------------------------------------------


def batch_of(corpus: Corpus, settings: Settings, step: int) -> tuple[Tensor, Tensor]:
    """Inputs and targets (B, T) of one step; they depend on the seed and the step alone."""
    dice = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
    T = settings.context
    rows = [passage(corpus, T + 1, dice) for _ in range(settings.batch - settings.repeats)]
    counted = [torch.ones(T, dtype=torch.bool)] * len(rows)
    for _ in range(settings.repeats):
        row, counts = repetition(corpus, T, dice)
        rows.append(row)
        counted.append(counts)
    ids = torch.stack(rows)
    inputs, targets = ids[:, :-1].clone(), ids[:, 1:].masked_fill(~torch.stack(counted), -100)
    inputs[torch.rand(inputs.shape, generator=dice) < settings.unknown_rate] = corpus.unknown
    return inputs, targets


def passage(corpus: Corpus, length: int, dice: torch.Generator) -> Tensor:
    """A random passage of the training text."""
    start = int(torch.randint(0, len(corpus.train) - length + 1, (1,), generator=dice))
    return corpus.train[start : start + length]


def repetition(corpus: Corpus, T: int, dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """T + 1 tokens that say 8 to T / 2 tokens over and over, and which of the last T count in the loss.

    What is said is a passage in one half of the cases, where all counts, and tokens drawn from the whole text in the
    other half, where there is nothing to predict the first time round.
    """
    period = int(torch.randint(8, T // 2 + 1, (1,), generator=dice))
    if int(torch.randint(0, 2, (1,), generator=dice)):
        part, first = passage(corpus, period, dice), 0
    else:
        part, first = corpus.train[torch.randint(0, len(corpus.train), (period,), generator=dice)], period
    return part.repeat(T // period + 1)[: T + 1], torch.arange(1, T + 1) >= first


@torch.no_grad()
def repetition_loss(model: GPTModel, corpus: Corpus, settings: Settings) -> float:
    """Mean loss on what random tokens say the second time and later: it falls when the model learns to copy."""
    dice = torch.Generator().manual_seed(settings.seed)
    pairs = [repetition(corpus, settings.context, dice) for _ in range(16)]
    pairs = [(row, counts) for row, counts in pairs if not bool(counts[0])]
    ids, counted = torch.stack([row for row, _ in pairs]), torch.stack([counts for _, counts in pairs])
    model.eval()
    loss = float(loss_of(model, ids[:, :-1], ids[:, 1:].masked_fill(~counted, -100), corpus.log_sharing))
    model.train()
    return loss


# --- schedule and checkpoints --------------------------------------------------------------------------------


@dataclass
class Progress:
    """Where the training stands. ``decay_from`` is the step at which the learning rate begins to fall."""

    step: int = 0
    decay_from: int = 0
    total: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best: float = math.inf
    best_step: int = 0
    recent: float = 0.0  # training loss, a moving mean over some 50 steps

    def finish_early(self, settings: Settings) -> None:
        """Begin to decay now, for the share of the whole that it would have had."""
        if self.step < self.decay_from:
            self.decay_from = self.step
            self.total = self.step + round(self.step * settings.decay_share / (1 - settings.decay_share))

    def rate(self, settings: Settings) -> float:
        rising = min(1.0, (self.step + 1) / settings.warm_up)
        falling = (self.total - self.step) / max(1, self.total - self.decay_from)
        return settings.peak * min(rising, falling, 1.0)


def save_atomically(value: object, path: Path) -> None:
    """Write beside ``path``, then put it in place in one go: whoever reads sees the old file or the new one."""
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


class Training:
    def __init__(self, corpus: Corpus, settings: Settings, work: Path, steps: int) -> None:
        self.corpus, self.settings, self.work = corpus, settings, work
        self.model = new_model(settings, corpus.unknown + 1)
        use_fused_attention(self.model)
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() == 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}],
            betas=(0.9, 0.98),
        )
        self.progress = Progress(decay_from=round(steps * (1 - settings.decay_share)), total=steps)
        self.stopped = False

    @property
    def checkpoint(self) -> Path:
        return self.work / "last.pt"

    def resume(self) -> None:
        if not self.checkpoint.exists():
            return
        saved = torch.load(self.checkpoint, weights_only=True)
        if saved["settings"] != asdict(self.settings) or saved["sha256"] != self.corpus.sha256:
            sys.exit(f"{self.checkpoint} was trained with other settings or another text: choose another --work folder")
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.progress = Progress(**saved["progress"])
        print(f"going on after step {self.progress.step}", flush=True)

    def save(self, path: Path, with_optimizer: bool) -> None:
        value: dict[str, Any] = {
            "settings": asdict(self.settings),
            "sha256": self.corpus.sha256,
            "progress": asdict(self.progress),
            "model": self.model.state_dict(),
        }
        if with_optimizer:
            value["optimizer"] = self.optimizer.state_dict()
        save_atomically(value, path)

    def stop(self, signal_number: int, frame: FrameType | None) -> None:
        self.stopped = True

    def one_step(self) -> float:
        inputs, targets = batch_of(self.corpus, self.settings, self.progress.step)
        torch.manual_seed(self.settings.seed * 7_919 + self.progress.step)  # of the dropout
        for group in self.optimizer.param_groups:
            group["lr"] = self.progress.rate(self.settings)
        loss = loss_of(self.model, inputs, targets, self.corpus.log_sharing, self.settings.bf16)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def measure(self) -> None:
        """Measure on held-out text; keep the best model."""
        progress = self.progress
        loss = held_out_loss(self.model, self.corpus.held_out, self.settings.context, self.corpus.log_sharing)
        if loss < progress.best:
            progress.best, progress.best_step = loss, progress.step
            self.save(self.work / "best.pt", with_optimizer=False)
        print(
            f"      step {progress.step:>5}   held-out {loss:.4f} nats a token   best {progress.best:.4f} "
            f"at step {progress.best_step}   repetitions {repetition_loss(self.model, self.corpus, self.settings):.3f}",
            flush=True,
        )

    def run(self, every: int, minutes: float | None) -> bool:
        """Train to the end; return False if it was interrupted before."""
        signal.signal(signal.SIGINT, self.stop)
        signal.signal(signal.SIGTERM, self.stop)
        progress, settings = self.progress, self.settings
        self.model.train()
        while progress.step < progress.total and not self.stopped:
            began = time.monotonic()
            loss = self.one_step()
            progress.step += 1
            progress.tokens += settings.batch * settings.context
            progress.recent = loss if progress.step == 1 else 0.98 * progress.recent + 0.02 * loss
            if progress.step % every == 0 or progress.step == progress.total:
                self.measure()
                self.save(self.checkpoint, with_optimizer=True)
            progress.seconds += time.monotonic() - began
            if progress.step % 20 == 0:
                self.tell()
            if minutes is not None and progress.seconds > minutes * 60 * (1 - settings.decay_share):
                progress.finish_early(settings)
            if (self.work / "finish").exists():
                progress.finish_early(settings)
        self.save(self.checkpoint, with_optimizer=True)
        return progress.step >= progress.total

    def tell(self) -> None:
        progress = self.progress
        speed = progress.tokens / progress.seconds
        left = (progress.total - progress.step) * self.settings.batch * self.settings.context / speed
        print(
            f"step {progress.step:>5} / {progress.total}   loss {progress.recent:.3f}   "
            f"rate {progress.rate(self.settings):.1e}   {speed:,.0f} tokens/s   {left / 60:.0f} min left",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, help="a UTF-8 text file")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--minutes", type=float, help="end after about this long, if that is before --steps")
    parser.add_argument("--batch", type=int, default=Settings.batch)
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument("--every", type=int, default=200, help="steps between two measurements on held-out text")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true", help="bfloat16 products, for processors that have them")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(options.text.read_text(encoding="utf-8"))
    settings = Settings(seed=options.seed, batch=options.batch, bf16=options.bf16)
    training = Training(corpus, settings, options.work, options.steps)
    training.resume()
    print(
        f"{len(corpus.train):,} tokens to train on, {len(corpus.held_out):,} held out; {corpus.unknown:,} occur; "
        f"{sum(p.numel() for p in training.model.parameters()):,} parameters",
        flush=True,
    )
    if not training.run(options.every, options.minutes):
        print(f"interrupted after step {training.progress.step}; the same command goes on", flush=True)


if __name__ == "__main__":
    main()
