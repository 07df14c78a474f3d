"""What can be wrong with the file of a run. Imports nothing heavy, so that whoever shows a message needs no torch."""

import errno

from gptviz.checkpoints.errors import printable

_LONGEST = 300  # characters of what a file may have made up


class RunFileError(ValueError):
    """A run can't be saved or opened: ``why``, and with ``remedy`` what to do."""

    def __init__(self, why: str, remedy: str = "Choose another file") -> None:
        self.why, self.remedy = printable(why), printable(remedy)
        super().__init__(f"{self.why}. {self.remedy}")


def damaged(name: str, what: str) -> RunFileError:
    """Say that the file ``name`` is not as it was written."""
    what = what if len(what) <= _LONGEST else f"{what[:_LONGEST]}…"
    return RunFileError(f"{name} is damaged: {what}", "Copy it again from where it was saved, or record the run again")


def unwritten(name: str, error: OSError) -> RunFileError:
    """Say why the file ``name`` could not be written."""
    known = {
        errno.ENOSPC: ("the disk is full", "Make room, choose another folder, or a smaller budget"),
        errno.EDQUOT: ("your share of the disk is used up", "Make room, choose another folder, or a smaller budget"),
        errno.EFBIG: ("the file would be larger than this disk takes", "Choose a smaller budget"),
        errno.EACCES: ("the folder does not allow it", "Choose a folder that you may write to"),
        errno.EPERM: ("the folder does not allow it", "Choose a folder that you may write to"),
        errno.EROFS: ("the disk is read-only", "Choose a folder that you may write to"),
        errno.ENOENT: ("there is no such folder", "Make the folder first, or choose another one"),
        errno.ENOTDIR: ("a part of its path is a file and no folder", "Choose another folder"),
        errno.EISDIR: ("it is a folder", "Add a name for the file"),
        errno.ENAMETOOLONG: ("the name is too long", "Choose a shorter one"),
    }
    why, remedy = known.get(error.errno or 0, (error.strerror or str(error), "Choose another folder"))
    return RunFileError(f"{name} can't be written: {why}", remedy)
