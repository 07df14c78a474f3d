"""The small parts of a transformer block: LayerNorm, GELU and the feed-forward network."""

import math

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Give every token's features mean 0 and variance 1, then scale and shift them.

    The variance is the population variance (divided by E, not E - 1), as in GPT-2. ``eps`` keeps a
    constant row from dividing by zero. Source: Ba, Kiros, Hinton (2016), "Layer Normalization".
    """

    def __init__(self, emb_dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)
        var = x.var(dim=-1, keepdim=True, unbiased=False)  # (B, T, 1)
        norm_x = (x - mean) / torch.sqrt(var + self.eps)  # (B, T, E)
        return self.scale * norm_x + self.shift


class GELU(nn.Module):
    """The smooth activation of GPT-2, in its tanh form: near x for large x, near 0 for very negative x.

    Source: Hendrycks, Gimpel (2016), "Gaussian Error Linear Units (GELUs)".
    """

    def forward(self, x: Tensor) -> Tensor:
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3))
        return 0.5 * x * (1 + torch.tanh(inner))


class FeedForward(nn.Module):
    """Expand every token to four times its width, bend it with GELU, contract it again."""

    def __init__(self, emb_dim: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(emb_dim, 4 * emb_dim),  # (B, T, E) → (B, T, 4E)
            GELU(),
            nn.Linear(4 * emb_dim, emb_dim),  # (B, T, 4E) → (B, T, E)
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.layers(x)
        return out
