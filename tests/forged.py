"""Run files whose header says what nobody wrote, with checksums that fit: what no accident does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gptviz.runs.run_file import sha256

Header = dict[str, Any]


def forge(path: Path, change: Callable[[Header, Header], object]) -> None:
    """Let ``change`` alter the header of safetensors and gptviz's own within it, and write the file anew."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    outer = json.loads(data[8:begin])
    inner = json.loads(outer["__metadata__"]["header"])
    change(outer, inner)
    text = json.dumps(inner)
    outer["__metadata__"] |= {"header": text, "sha256": sha256(text.encode())}
    new = json.dumps(outer).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + data[begin:])
