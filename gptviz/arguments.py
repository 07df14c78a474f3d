"""What is written on the command line, read and checked."""

import argparse

_LARGEST_SIZE = 8192  # px


def seed(text: str) -> int:
    """Read the seed of a random generator."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2^63 - 1")
    return value


def indices(text: str) -> tuple[int, ...]:
    """Read an index of a tensor, such as 0,3,2,1."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no index such as 0,3,2,1") from None


def size(text: str) -> tuple[int, int]:
    """Read width and height, such as 1440x900."""
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1440x900")
    if not (200 <= int(width) <= _LARGEST_SIZE and 200 <= int(height) <= _LARGEST_SIZE):
        raise argparse.ArgumentTypeError(f"{text}: width and height go from 200 to {_LARGEST_SIZE}")
    return int(width), int(height)
