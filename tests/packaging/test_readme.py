"""README.md holds what it promises: commands, links, and the packages that the script installs."""

import re

import pytest
from installation import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("marker", "end"), [("start", "gptviz"), ("test", "pytest -n 3")])
def test_a_command_stands_alone_on_one_line(marker: str, end: str) -> None:
    (command,) = re.findall(rf"^<!-- install and {marker} -->\n```sh\n(.*)\n```$", README, re.MULTILINE)

    assert command.startswith("sh scripts/system-packages.sh && python3 -m venv .venv && ")
    assert command.endswith(f".venv/bin/{end}")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_files_that_are_linked_are_there(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8"))

    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_the_packages_to_install_by_hand_are_those_of_the_script() -> None:
    script = (ROOT / "scripts" / "system-packages.sh").read_text(encoding="utf-8")
    packages = {package for _, package in re.findall(r"^(lib\S+\.so\.\d+) +(\S+)$", script, re.MULTILINE)}

    (by_hand,) = re.findall(r"^apt-get install --no-install-recommends ([^`]*)```", README, re.MULTILINE)

    assert set(by_hand.replace("\\\n", " ").split()) == packages | {"python3-venv"}


def test_the_picture_is_small() -> None:
    assert (ROOT / "resources" / "screenshot.png").stat().st_size < 200_000
