"""The file of a recorded run: safetensors, with what was run and seen in its header. Imports nothing by itself."""

SUFFIX = ".gptviz"
DEFAULT_BUDGET = 512 * 2**20  # bytes of tensors
