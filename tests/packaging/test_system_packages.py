"""``scripts/system-packages.sh``, on machines that are made up: what it finds, and what it then does."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from installation import ROOT

SCRIPT = ROOT / "scripts" / "system-packages.sh"
USED = ("cat", "env", "sed", "tr")  # the real programs that the script may call

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


def libraries() -> list[str]:
    """The names of all libraries that the script looks for."""
    words = SCRIPT.read_text(encoding="utf-8").split()
    return sorted({word for word in words if word.startswith("lib") and ".so." in word})


class Machine:
    """A folder that is the whole PATH; its programs note in a file how they are called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        for name in USED:
            (folder / name).symlink_to(shutil.which(name) or name)
        self.program("uname", "echo Linux")
        self.program("id", "echo 1000")
        self.program("python3", "exit 0")
        self.has_libraries(libraries())

    def program(self, name: str, lines: str) -> None:
        (self.folder / name).write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def notes(self, name: str, then: str) -> None:
        self.program(name, f'echo "{name} $*" >> {self.calls}\n{then}')

    def has_libraries(self, names: list[str]) -> None:
        listing = "".join(f"\t{name} (libc6,x86-64) => /lib/{name}\n" for name in names)
        (self.folder / "listing").write_text(listing, encoding="utf-8")
        self.program("ldconfig", f"cat {self.folder}/listing")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            ["/bin/sh", SCRIPT, *arguments],
            env={"PATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stdout, done.stderr

    def called(self) -> list[str]:
        return self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A Linux that has everything, and a user who is not root."""
    return Machine(tmp_path)


def without(*missing: str) -> list[str]:
    return [name for name in libraries() if name not in missing]


def test_nothing_is_done_where_nothing_is_missing(machine: Machine) -> None:
    assert machine.run() == (0, "", "")


def test_nothing_is_done_on_another_system(machine: Machine) -> None:
    machine.program("uname", "echo Darwin")
    machine.has_libraries([])

    assert machine.run("--with-xvfb") == (0, "", "")


def test_without_root_and_sudo_the_command_is_named_in_one_line(machine: Machine) -> None:
    machine.has_libraries(without("libEGL.so.1", "libgthread-2.0.so.0", "libglib-2.0.so.0"))
    machine.notes("apt-get", "exit 0")

    status, out, error = machine.run()

    command = "apt-get update && apt-get install -y --no-install-recommends libegl1 libglib2.0-0"
    assert (status, out) == (1, "")
    assert error == f"gptviz: system packages are missing; as root, run: {command}\n"
    assert machine.called() == []


def root(machine: Machine) -> str:
    machine.program("id", "echo 0")
    return ""


def sudo(machine: Machine) -> str:
    machine.notes("sudo", '"$@"')
    return "sudo "


@pytest.mark.parametrize("become", [root, sudo])
def test_root_and_sudo_install_what_is_missing(machine: Machine, become: Callable[[Machine], str]) -> None:
    prefix = become(machine)
    machine.notes("apt-get", "exit 0")
    machine.has_libraries(without("libxcb-cursor.so.0"))
    machine.program("python3", "exit 1")

    status, out, error = machine.run("--with-xvfb")

    packages = "libxcb-cursor0 python3-venv xvfb xdotool"
    assert (status, out, error) == (0, f"gptviz: installing system packages: {packages}\n", "")
    install = f"apt-get -qq install -y --no-install-recommends {packages}"
    called = [call for call in machine.called() if call.startswith("apt-get")]
    assert called == ["apt-get -qq update", install]
    assert f"{prefix}apt-get -qq update" in machine.called()


def test_an_installation_that_fails_names_the_command(machine: Machine) -> None:
    root(machine)
    machine.notes("apt-get", "exit 100")
    machine.has_libraries(without("libGL.so.1"))

    status, _, error = machine.run()

    assert status == 1
    assert error.endswith("as root, run: apt-get update && apt-get install -y --no-install-recommends libgl1\n")


def test_without_apt_the_libraries_are_named(machine: Machine) -> None:
    machine.has_libraries(without("libGL.so.1"))

    status, _, error = machine.run()

    assert status == 1
    assert error == "gptviz: install these with your system's package manager, then try again: libGL.so.1\n"


def test_an_unknown_argument_is_refused(machine: Machine) -> None:
    status, _, error = machine.run("--help-me")

    assert status == 1
    assert "--with-xvfb" in error
