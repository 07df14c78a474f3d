"""The small parts of a transformer block: LayerNorm, GELU and the feed-forward network."""

import math

import torch
from torch import Tensor, nn

from gptviz.model.config import GELU_EXACT, GELU_TANH, RELU


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


class LayerNormWithoutShift(nn.Module):
    """LayerNorm as models without any bias have it: with a scale alone."""

    def __init__(self, emb_dim: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(emb_dim))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)
        var = x.var(dim=-1, keepdim=True, unbiased=False)  # (B, T, 1)
        norm_x = (x - mean) / torch.sqrt(var + self.eps)  # (B, T, E)
        return self.scale * norm_x


class GELU(nn.Module):
    """The smooth activation of GPT-2, in its tanh form: near x for large x, near 0 for very negative x.

    Source: Hendrycks, Gimpel (2016), "Gaussian Error Linear Units (GELUs)".
    """

    def forward(self, x: Tensor) -> Tensor:
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3))
        return 0.5 * x * (1 + torch.tanh(inner))


class ExactGELU(nn.Module):
    """GELU as it is defined: x times the share of a normal distribution that lies below x.

    Source: Hendrycks, Gimpel (2016), "Gaussian Error Linear Units (GELUs)".
    """

    def forward(self, x: Tensor) -> Tensor:
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2.0)))


class ReLU(nn.Module):
    """Keep what is positive, and make 0 of the rest."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x)


_ACTIVATIONS: dict[str, type[nn.Module]] = {GELU_TANH: GELU, GELU_EXACT: ExactGELU, RELU: ReLU}


class FeedForward(nn.Module):
    """Expand every token to four times its width, bend it with GELU, contract it again."""

    def __init__(self, emb_dim: int, ff_dim: int | None = None, activation: str = GELU_TANH, bias: bool = True) -> None:
        super().__init__()
        ff_dim = 4 * emb_dim if ff_dim is None else ff_dim
        self.layers = nn.Sequential(
            nn.Linear(emb_dim, ff_dim, bias=bias),  # (B, T, E) → (B, T, 4E)
            _ACTIVATIONS[activation](),
            nn.Linear(ff_dim, emb_dim, bias=bias),  # (B, T, 4E) → (B, T, E)
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.layers(x)
        return out
