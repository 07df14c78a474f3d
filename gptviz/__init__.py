"""gptviz: watch a GPT-2-shaped PyTorch model run."""

__version__ = "0.1.0"
