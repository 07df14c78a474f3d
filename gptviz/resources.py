"""Where the bundled files are: in a checkout, an editable install and a wheel."""

from pathlib import Path
from types import MappingProxyType

_PACKAGE = Path(__file__).parent


def path(*parts: str) -> Path:
    """Return the path of a bundled file, such as ``path("fonts", "OFL.txt")``.

    A wheel carries ``resources/`` as ``gptviz/_resources``; a checkout has it beside the package.

    Raises
    ------
    FileNotFoundError
        If the installation lacks the file.
    """
    for root in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        found = root.joinpath(*parts)
        if found.exists():
            return found
    raise FileNotFoundError(f"gptviz's own file {'/'.join(parts)} is missing: install gptviz again")


def _is_there(*parts: str) -> bool:
    try:
        path(*parts)
    except FileNotFoundError:
        return False
    return True


# the models that gptviz carries, as far as they are there: their names on the command line, and in the window
_MODELS = {"shakespeare": "Shakespeare (small, trained)"}
MODELS = MappingProxyType({name: title for name, title in _MODELS.items() if _is_there(name)})


def model_path(name: str) -> Path | None:
    """Return the folder of a bundled model; None if there is none of this name, so that it is a path."""
    return path(name) if name in MODELS else None
