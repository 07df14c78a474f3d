"""What can be wrong with a checkpoint. Imports nothing, so that whoever shows a message needs no torch."""

from collections.abc import Iterable

RUN_KEY = "gptviz.run"  # in the metadata of what File → Save run… writes; its value is the format's version
_NAMES_SHOWN = 3


class CheckpointError(ValueError):
    """A checkpoint can't be opened: ``why``, and with ``remedy`` what to do."""

    def __init__(self, why: str, remedy: str = "Choose another file") -> None:
        self.why, self.remedy = printable(why), printable(remedy)
        super().__init__(f"{self.why}. {self.remedy}")


class HeadsNeeded(CheckpointError):  # noqa: N818 - a question more than an error
    """The file can't tell how many attention heads the model has; ``proposal`` is the likeliest of ``choices``."""

    def __init__(self, name: str, emb_dim: int, choices: tuple[int, ...], proposal: int) -> None:
        super().__init__(
            f"{name} does not say how many attention heads its {emb_dim} features are dealt out to",
            f"Say how many: {proposal} is likely, as each would have {emb_dim // proposal} features",
        )
        self.name = name
        self.emb_dim = emb_dim
        self.choices = choices
        self.proposal = proposal


class RunGiven(CheckpointError):  # noqa: N818 - whoever can open runs does so
    """The file is no checkpoint, but a recorded run."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is a recorded run and no checkpoint", "Open it with File → Open run, or with 'gptviz open'"
        )


def first_few(names: Iterable[str]) -> str:
    """List the first few names, and say how many more there are."""
    shown = sorted(names, key=natural_order)
    more = len(shown) - _NAMES_SHOWN
    listed = ", ".join(_shortened(name) for name in shown[:_NAMES_SHOWN])
    return f"{listed} and {more:,} more" if more > 0 else listed


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort block 10 after block 9."""
    return [(int(part), "") if part.isdecimal() and len(part) < 10 else (-1, part) for part in name.split(".")]


def counted(number: int, noun: str) -> str:
    """Write "1 tensor" or "3 tensors"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def printable(text: str) -> str:
    """Put the text of a file, or its name, on one line, without what a terminal would obey or can't write."""
    spaced = (" " if character.isspace() else character for character in text)
    return "".join(character if character.isprintable() else "�" for character in spaced)


def _shortened(name: str) -> str:
    text = printable(name)
    return text if len(text) <= 80 else f"{text[:77]}…"
