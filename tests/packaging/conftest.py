"""The wheel, built from the checkout and installed beside the present dependencies. No network is asked."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from installation import ROOT, Installation


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in an environment of its own, which finds the dependencies in the present one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False)
    places = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    scripts = Path(sysconfig.get_path("scripts", "venv", places))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(scripts / "python"),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            wheel,
        ],
        check=True,
        capture_output=True,
    )
    # A .pth file there puts the present packages on the path, but not what their own .pth files add: the checkout.
    packages = Path(sysconfig.get_path("purelib", "venv", places))
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return Installation(scripts, elsewhere)
