"""Where the bundled files are: in a checkout, an editable install and a wheel."""

from pathlib import Path

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
