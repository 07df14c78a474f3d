"""What is in the wheel, and that it works where there is no checkout."""

import json
import zipfile
from pathlib import Path

import pytest
from installation import ROOT, Installation
from PySide6.QtGui import QImage

FOR_THE_README = {"screenshot.png"}


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_carries_every_resource(names: list[str]) -> None:
    resources = ROOT / "resources"
    files = {path.relative_to(resources).as_posix() for path in resources.rglob("*") if path.is_file()}

    carried = {name.removeprefix("gptviz/_resources/") for name in names if name.startswith("gptviz/_resources/")}

    assert carried == files - FOR_THE_README
    assert {"gpt2-bpe/vocab.bpe", "gpt2-bpe/encoder.json", "fonts/Inter-Regular.otf", "icons/run.svg"} <= carried


def test_the_wheel_carries_every_module_and_says_that_it_is_typed(names: list[str]) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gptviz").rglob("*.py")}

    assert {name for name in names if name.endswith(".py")} == modules
    assert "gptviz/py.typed" in names


def test_the_wheel_carries_the_licences(names: list[str]) -> None:
    licences = {name.partition(".dist-info/licenses/")[2] for name in names}

    assert {"LICENSE", "resources/gpt2-bpe/LICENSE", "resources/fonts/OFL.txt"} <= licences


def test_the_installed_package_is_not_the_checkout(installed: Installation) -> None:
    done = installed.run("python", "-c", "import gptviz; print(gptviz.__file__)")

    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(installed.scripts.parent)


def test_the_installed_command_tokenises(installed: Installation) -> None:
    done = installed.run("gptviz", "tokens", "Hello, I am", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert [token["id"] for token in json.loads(done.stdout)["tokens"]] == [15496, 11, 314, 716]


def test_the_installed_command_runs_the_model(installed: Installation) -> None:
    done = installed.run("gptviz", "trace", "Hello, I am", "--config", "tiny", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    trace = json.loads(done.stdout)
    assert trace["stages"][-1]["name"] == "next"
    assert all(check["ok"] for check in trace["checks"])


def test_the_installed_command_draws_the_window(installed: Installation) -> None:
    done = installed.run("gptviz", "shot", "window.png", "--config", "tiny", "--size", "1280x800")

    assert (done.returncode, done.stdout) == (0, "")
    picture = QImage(str(installed.elsewhere / "window.png"))
    assert picture.size().toTuple() == (1280, 800)
    assert len({picture.pixel(x, y) for x in range(0, 1280, 3) for y in range(0, 800, 3)}) > 50
    assert [path.name for path in installed.elsewhere.iterdir() if not path.name.startswith(".")] == ["window.png"]


def test_help_is_instant_as_it_imports_neither_torch_nor_qt(installed: Installation) -> None:
    program = "import sys, gptviz.cli; print([name for name in ('torch', 'PySide6', 'numpy') if name in sys.modules])"

    assert installed.run("python", "-c", program).stdout == "[]\n"
