"""The LayerNorm pane: what the model's numbers are before, in between and after."""

import pytest
import torch
from panes_of import pane_of
from reading import painted_words
from user import User

from gptviz.app.main_window import MainWindow
from gptviz.panes.layer_norm import LayerNormPane
from gptviz.widgets.text import number

pytestmark = pytest.mark.with_panes("layer-norm")


@pytest.fixture
def pane(window: MainWindow, user: User) -> LayerNormPane:
    user.brings_up("layer-norm")
    return pane_of(window, LayerNormPane)


def numbers(pane: LayerNormPane, row: str) -> dict[str, str]:
    return dict(figure.split() for figure in pane.rows[row].numbers.text.split("; "))


def moments(user: User, stage: str, token: int) -> dict[str, str]:
    assert user.state.trace is not None
    values = user.state.trace[stage][0, token].double()
    return {"mean": number(values.mean().item()), "variance": number(values.var(unbiased=False).item())}


def test_the_heading_names_the_norm_and_the_token(pane: LayerNormPane) -> None:
    assert pane.heading.text() == "trf_blocks.0.norm1  ·  token 3 ␣am  ·  32 features"


def test_mean_and_variance_are_those_of_the_models_tensors(pane: LayerNormPane, user: User) -> None:
    assert numbers(pane, "before") == moments(user, "drop_emb", 3)
    assert numbers(pane, "after")["variance"] == moments(user, "trf_blocks.0.norm1", 3)["variance"]
    assert numbers(pane, "normalised")["mean"] == "0"
    assert float(numbers(pane, "normalised")["variance"]) == pytest.approx(1, abs=1e-3)


def test_the_switch_chooses_the_norm(pane: LayerNormPane, user: User) -> None:
    for norm, stage, source in (
        ("norm2", "trf_blocks.0.norm2", "trf_blocks.0.shortcut1"),
        ("final_norm", "final_norm", "trf_blocks.1.shortcut2"),
        ("norm1", "trf_blocks.0.norm1", "drop_emb"),
    ):
        user.clicks(pane.norms.button(norm))

        assert pane.heading.text().startswith(f"{stage}  ·")
        assert pane.rows["before"].explanation.text() == source
        assert numbers(pane, "before") == moments(user, source, 3)
        assert user.state.selection.stage == stage


def test_a_chip_chooses_the_token(pane: LayerNormPane, user: User) -> None:
    strip = user.window.prompt_bar.strip

    user.clicks(strip, strip.chip_box(1).center())

    assert pane.heading.text() == "trf_blocks.0.norm1  ·  token 1 ,  ·  32 features"
    assert numbers(pane, "before") == moments(user, "drop_emb", 1)


def test_another_block_shows_its_norm(pane: LayerNormPane, user: User) -> None:
    user.window.session.select(layer=1)

    assert pane.heading.text().startswith("trf_blocks.1.norm1")
    assert numbers(pane, "before") == moments(user, "trf_blocks.0.shortcut2", 3)


def test_an_untrained_norm_says_that_scale_and_shift_do_nothing(pane: LayerNormPane) -> None:
    assert pane.scale.text().startswith("scale 1.000   shift 0   eps 1e−5")
    assert pane.note.text().startswith("scale is 1 and shift is 0 for every feature")
    assert numbers(pane, "after")["variance"] == numbers(pane, "normalised")["variance"]


def test_scale_and_shift_are_shown_apart_from_the_normalisation(pane: LayerNormPane, user: User) -> None:
    assert user.state.trace is not None
    norm = user.state.trace.replay.model.trf_blocks[0].norm1
    torch.nn.init.constant_(norm.scale, 2.0)
    torch.nn.init.constant_(norm.shift, 0.5)

    user.runs("Hello, I am")

    assert pane.scale.text().startswith("scale 2.000   shift 0.5000   eps 1e−5")
    assert pane.note.text().startswith("scale and shift are learned")
    assert float(numbers(pane, "normalised")["variance"]) == pytest.approx(1, abs=1e-2)
    assert float(numbers(pane, "after")["mean"]) == pytest.approx(0.5, abs=1e-3)
    assert float(numbers(pane, "after")["variance"]) == pytest.approx(4, abs=4e-2)


def test_three_distributions_are_drawn_on_one_axis_that_holds_them_all(pane: LayerNormPane, user: User) -> None:
    axes = [painted_words(row.plot) for row in pane.rows.values()]
    assert axes[0]
    assert axes[0] == axes[1] == axes[2]

    assert user.state.trace is not None
    low, high = pane.rows["after"].plot.getViewBox().viewRange()[0]
    normed = user.state.trace["trf_blocks.0.norm1"][0, 3]
    assert low <= normed.min() < -1 < 1 < normed.max() <= high


def test_a_token_that_is_markup_is_text(pane: LayerNormPane, user: User) -> None:
    user.runs("<b>")

    user.window.session.select(query=0)

    assert "token 0 <" in pane.heading.text()
