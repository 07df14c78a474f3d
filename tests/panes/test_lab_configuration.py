"""The lab of configurations: cost before building, building, and the dictionary."""

from collections.abc import Callable
from functools import cache

import pytest
from panes_of import pane_of
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.labs import configuration
from gptviz.labs.timing import Basis
from gptviz.model import GPT2_SMALL, TINY, GPTConfig
from gptviz.panes.lab_configuration import ConfigurationLabPane

Types = Callable[[str, str], None]
pytestmark = pytest.mark.with_panes()


@pytest.fixture(scope="module")
def measure() -> Callable[[int, int], Basis]:
    """The measuring of this machine, once for a size of prompt."""
    return cache(configuration.measure)


@pytest.fixture(autouse=True)
def _measured_once(measure: Callable[[int, int], Basis], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "measure", measure)


@pytest.fixture
def settles(window: MainWindow, qtbot: QtBot) -> Callable[[], None]:
    session = window.session
    return lambda: qtbot.waitUntil(lambda: not (session.busy or session.labs.pending))


@pytest.fixture
def pane(window: MainWindow, settles: Callable[[], None], qtbot: QtBot) -> ConfigurationLabPane:
    window.bench.open("lab-configuration")
    pane = pane_of(window, ConfigurationLabPane)
    qtbot.waitUntil(pane.isVisible)
    settles()
    return pane


@pytest.fixture
def types(pane: ConfigurationLabPane, user: User, settles: Callable[[], None]) -> Types:
    """A function that replaces what stands in a field, and waits for the answer."""

    def types(field: str, text: str) -> None:
        user.pastes(pane.form.fields[field].edit, text)
        settles()

    return types


def costs(pane: ConfigurationLabPane) -> dict[str, tuple[str, ...]]:
    return {row.cells[0]: row.cells[1:] for row in pane.cost.rows}


def small(types: Types) -> None:
    for field, text in (("n_layers", "3"), ("n_heads", "4"), ("emb_dim", "16"), ("context_length", "8")):
        types(field, text)


def test_the_cost_stands_beside_that_of_the_model_on_screen(pane: ConfigurationLabPane) -> None:
    assert costs(pane)["Parameters"][:2] == ("3,243,776", "163,009,536")
    assert costs(pane)["Weights, fp32"][:2] == ("13.0 MB", "652 MB")
    shapes = {row.cells[0]: row.cells[1:] for row in pane.shapes.rows}
    assert shapes["trf_blocks.{i}.att.weights"] == ("(1, 2, 4, 4)", "(1, 12, 4, 4)", "(B, H, T, T)")
    assert "measured on this machine" in pane.basis.text()


def test_it_is_built_in_the_background_and_used(
    pane: ConfigurationLabPane, types: Types, user: User, settles: Callable[[], None]
) -> None:
    small(types)
    user.clicks(pane.build)
    settles()

    wanted = GPTConfig(n_layers=3, n_heads=4, emb_dim=16, context_length=8)
    assert user.state.model is not None
    assert user.state.model.config == wanted
    assert user.state.model.title == "custom 3 × 16"
    assert user.state.trace is not None
    assert user.state.trace.config == wanted
    assert pane.progress.text().startswith("On screen: custom 3 × 16 · seed 123")
    assert costs(pane)["Parameters"][2] == ""  # as the model on screen
    assert not any(action.isChecked() for action in user.window.actions_.model_menu.actions())


def test_more_than_the_machines_memory_is_refused_at_the_field(
    pane: ConfigurationLabPane, types: Types, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuration, "available_memory", lambda: 1_000_000_000)

    types("n_layers", "48")

    assert "It needs" in pane.form.message
    assert "1.0 GB are free" in pane.form.message
    assert not pane.build.isEnabled()

    types("n_layers", "2")
    assert pane.form.message == ""
    assert pane.build.isEnabled()


def test_what_was_too_large_can_be_built_once_there_is_room(
    pane: ConfigurationLabPane, types: Types, user: User, settles: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(configuration, "available_memory", lambda: 1_000_000_000)
        types("n_layers", "48")
        assert not pane.build.isEnabled()

    user.runs("Another prompt")
    settles()
    assert pane.form.message == ""
    assert pane.build.isEnabled()


def test_a_refused_setting_cannot_be_built_and_the_last_cost_stays(pane: ConfigurationLabPane, types: Types) -> None:
    before = costs(pane)["Parameters"]

    types("n_heads", "7")

    assert pane.form.fields["emb_dim"].message.startswith("Must be divisible by n_heads")
    assert not pane.build.isEnabled()
    assert costs(pane)["Parameters"] == before


def test_what_the_window_cannot_do_is_told_before(pane: ConfigurationLabPane, types: Types) -> None:
    types("vocab_size", "1000")
    assert "an ID of 1,000 or more will be refused" in pane.warning.text()

    types("vocab_size", "60000")
    types("context_length", "3")
    assert "have no text" in pane.warning.text()
    assert "4 tokens, more than this context holds" in pane.warning.text()


def test_the_dictionary_is_copied_and_pasted(
    pane: ConfigurationLabPane, types: Types, user: User, settles: Callable[[], None]
) -> None:
    types("emb_dim", "96")
    user.clicks(pane.copy)
    copied = QGuiApplication.clipboard().text()
    assert GPTConfig.from_dict(eval(copied)) == GPTConfig(emb_dim=96)

    QGuiApplication.clipboard().setText('CONFIG = {"emb_dim": 32, "n_heads": 2, "n_layers": 2, "context_length": 64}')
    user.clicks(pane.paste)
    settles()
    assert pane.presets.button("tiny").isChecked()
    assert pane.form.values["emb_dim"] == TINY.emb_dim


def test_a_text_that_is_no_configuration_is_not_pasted(pane: ConfigurationLabPane, user: User) -> None:
    for text, reason in (
        ("hello", "no Python dictionary"),
        ('{"emb_dim": 7}', "divisible by n_heads"),
        ('{"embdim": 768}', "unknown setting embdim"),
        ('{"n_layers": 1.5}', "whole number"),
        (f'{{"{"k" * 9000}": 1}}', "unknown setting kkkkkkkkkkkkkkkkkk…"),
        (f'{{"activation": "{"x" * 9000}"}}', "activation must be one of"),
    ):
        QGuiApplication.clipboard().setText(text)
        user.clicks(pane.paste)
        assert pane.note.text().startswith("Nothing was pasted")
        assert reason in pane.note.text()
        assert len(pane.note.text()) < 250
    assert pane.form.values["emb_dim"] == GPT2_SMALL.emb_dim


def test_a_pasted_middle_beyond_all_reason_is_refused(
    pane: ConfigurationLabPane, user: User, settles: Callable[[], None]
) -> None:
    QGuiApplication.clipboard().setText(f'{{"n_inner": {10**25}}}')
    user.clicks(pane.paste)
    settles()
    assert "n_inner, pasted besides, is too large" in pane.form.message
    assert not pane.build.isEnabled()


def test_reset_brings_the_chapters_settings_back(
    pane: ConfigurationLabPane, types: Types, user: User, settles: Callable[[], None]
) -> None:
    types("emb_dim", "x")
    types("drop_rate", "0.3")
    user.clicks(pane.header.button)
    settles()

    assert pane.form.values == {
        "vocab_size": 50257, "context_length": 1024, "emb_dim": 768, "n_heads": 12, "n_layers": 12,
        "drop_rate": 0.1, "qkv_bias": False, "tie_weights": False,
    }  # fmt: skip
    assert pane.form.message == ""
