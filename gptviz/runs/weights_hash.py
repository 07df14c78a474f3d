"""What tells one model's weights from another's."""

import hashlib
from collections.abc import Callable

from torch import nn

from gptviz.runs.tensor_bytes import bytes_of

_CHUNK = 4 * 2**20  # numbers that are hashed at a time


def weights_hash(model: nn.Module, on_progress: Callable[[float], None] = lambda share: None) -> str:
    """Return the SHA-256 over names, shapes, types and bytes of all parameters, in the order of the state dict.

    A matrix that two modules share counts under both names. ``on_progress`` is called with the share that is done,
    from 0 to 1; an exception that it raises ends the work.
    """
    named = list(model.named_parameters(remove_duplicate=False))
    total = sum(parameter.numel() for _, parameter in named)
    found, done = hashlib.sha256(), 0
    for name, parameter in named:
        found.update(f"{name} {list(parameter.shape)} {parameter.dtype}\n".encode())
        flat = parameter.detach().contiguous().view(-1)
        for start in range(0, flat.numel(), _CHUNK):
            on_progress(done / total)
            part = flat[start : start + _CHUNK]
            found.update(bytes_of(part))
            done += part.numel()
    on_progress(1.0)
    return found.hexdigest()
