"""The parts of `scripts/bench.py`; each measurement runs in a process of its own."""
