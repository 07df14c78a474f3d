"""The words and figures that stand on slides."""

from collections.abc import Sequence
from itertools import chain

from gptviz.panes.stage_figures import pairs
from gptviz.session.slides import Cover, RankingSlide, Slide, StageSlide, StepsSlide
from gptviz.widgets.bar_list import BarRow
from gptviz.widgets.text import milliseconds, number, percent, shape, visible

_MOST_WAYS = 3  # of choosing a token, that are named below as many tokens as a page has
_PROMISE = "Every number on these slides was computed by this run; none is an example."


def place_of(slide: Slide) -> str:
    """Say where a slide stands in the model."""
    content = slide.content
    if not isinstance(content, StageSlide):
        return "gptviz"
    stage = content.stage
    place = f"stage {stage.index + 1} of {content.count}"
    return place if stage.layer is None else f"block {stage.layer + 1} of {content.blocks} · {place}"


def entry_of(slide: Slide) -> tuple[str, str]:
    """Return the bookmark that a slide stands under, or nothing, and its own."""
    content = slide.content
    if not isinstance(content, StageSlide) or content.stage.layer is None:
        return "", slide.title
    group, _, title = slide.title.partition(" · ")
    return group, title


def shapes_of(content: StageSlide) -> str:
    """Write the shapes that go in and the one that comes out."""
    inputs = "  ,  ".join(shape(sizes) for sizes in content.input_shapes)
    output = shape(content.output_shape)
    return f"{inputs}  →  {output}" if inputs else f"→  {output}"


def figures_of(content: StageSlide) -> list[list[tuple[str, str]]]:
    """Name what was measured of a stage."""
    measured = [] if content.statistics is None else pairs(content.statistics)
    facts = [("parameters", f"{content.parameters:,}")]
    if content.ms is not None:
        facts.append(("time", milliseconds(content.ms)))
    if content.part:
        facts.append(("measured", content.part))
    return [[*measured, *facts]]


def cover_caption(cover: Cover) -> str:
    """Say what goes into the model."""
    count = len(cover.pieces)
    tokens = "1 token" if count == 1 else f"{count:,} tokens"
    batch = f", one of {cover.rows} sequences of the batch" if cover.rows > 1 else ""
    return f"{tokens} with their IDs{batch}"


def cover_facts(cover: Cover) -> list[tuple[str, str]]:
    """Name what a reader has to know of the model."""
    model = cover.model
    if model is None:
        return [("model", "not known")]
    config = model.config
    weights = f"random, seed {model.seed}" if not model.trained else f"{model.source}, {model.format}"
    sizes = f"{config.n_layers} blocks · {config.n_heads} heads · {config.emb_dim:,} features"
    return [
        ("model", model.title),
        ("weights", weights),
        ("parameters", f"{model.parameters:,}"),
        ("sizes", f"{sizes} · {config.vocab_size:,} tokens known"),
    ]


def cover_words(cover: Cover) -> str:
    """Close the first slide."""
    missing = ""
    if cover.missing:
        missing = f" Of {cover.missing:,} of {cover.stages:,} stages the tensor is not at hand: their slides say so."
    trained = cover.model is not None and cover.model.trained
    noise = "" if trained else " The weights are random, so the predicted text is noise."
    return f"{_PROMISE}{missing}{noise}"


def ranking_rows(ranked: RankingSlide) -> list[BarRow]:
    """Return a bar for each token, relative to the likeliest one."""
    first = ranked.rows[0].probability if ranked.rows else 1.0
    return [
        BarRow(
            visible(row.text),
            str(row.id),
            row.probability / first if first > 0 else 0.0,
            percent(row.probability),
            number(row.logit),
        )
        for row in ranked.rows
    ]


def ranking_words(ranked: RankingSlide, rows: Sequence[BarRow]) -> tuple[str, Sequence[BarRow], str]:
    """Say what the ranking is, above and below it."""
    uniform = f"Without any preference each token would have {percent(1 / ranked.vocabulary)}."
    return (
        f"The {len(rows)} likeliest of {ranked.vocabulary:,} tokens that could come next.",
        rows,
        f"Probabilities are the softmax of the last position's logits. {uniform}",
    )


def step_rows(steps: StepsSlide) -> list[BarRow]:
    """Return a bar for each generated token: its probability, and the number of its step."""
    return [
        BarRow(
            visible(text),
            str(step.chosen.id),
            step.chosen.probability,
            percent(step.chosen.probability),
            str(steps.first + place),
        )
        for place, (step, text) in enumerate(zip(steps.steps, steps.texts, strict=True))
    ]


def steps_words(steps: StepsSlide, rows: Sequence[BarRow]) -> tuple[str, Sequence[BarRow], str]:
    """Say which steps these are."""
    last = steps.first + len(rows) - 1
    which = f"Step {steps.first}" if last == steps.first else f"Steps {steps.first} to {last}"
    sentence = f"{which} of {steps.total}: the token that was appended, and the probability that it had."
    return sentence, rows, _ways(steps)


def _ways(steps: StepsSlide) -> str:
    """Say how the tokens were chosen, and which of them, where that changed on the way."""
    ways: dict[str, list[int]] = {}
    for place, step in enumerate(steps.steps, steps.first):
        ways.setdefault("a person" if step.picked else step.decoding.brief, []).append(place)
    if len(ways) == 1:
        return f"Chosen by: {next(iter(ways))}."
    named, others = [*ways.items()][:_MOST_WAYS], [*ways.values()][_MOST_WAYS:]
    if others:
        count = "1 other way" if len(others) == 1 else f"{len(others)} other ways"
        named.append((count, sorted(chain(*others))))
    return f"Chosen by: {'; '.join(f'{way} ({_steps(numbers)})' for way, numbers in named)}."


def _steps(numbers: Sequence[int]) -> str:
    """Write numbers of steps, rows of them by their ends."""
    ends: list[list[int]] = []
    for place in numbers:
        if ends and place == ends[-1][-1] + 1:
            ends[-1] = [ends[-1][0], place]
        else:
            ends.append([place])
    parts = ", ".join("–".join(map(str, end)) for end in ends)
    return f"{'step' if len(numbers) == 1 else 'steps'} {parts}"
