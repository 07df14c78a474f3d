"""The tree of steps, and what can be undone, as plain values."""

import dataclasses
import json

from gptviz.analysis.candidates import Candidate
from gptviz.session.generation import GeneratedStep, Generation, History

PROMPT = (7, 8, 9)


def step(token: int) -> GeneratedStep:
    chosen = Candidate(token, 1.0, 0.5)
    return GeneratedStep(chosen, (chosen, Candidate(99, 0.5, 0.25)), 3)


def grown(*tokens: int) -> Generation:
    generation = Generation(PROMPT)
    for token in tokens:
        generation = generation.with_step(step(token))
    return generation


def tokens(generation: Generation) -> list[int]:
    return [step.chosen.id for step in generation.steps]


def texts(generation: Generation) -> list[list[int]]:
    """Return the tokens of every branch."""
    return [
        [generation.nodes[node].chosen.id for node in generation.path(branch)]
        for branch in range(len(generation.branches))
    ]


def test_steps_follow_each_other() -> None:
    generation = grown(1, 2, 3)

    assert generation.ids == (7, 8, 9, 1, 2, 3)
    assert [step.parent for step in generation.steps] == [None, 0, 1]
    assert (generation.shown, generation.branch) == (2, 0)


def test_what_the_model_saw_is_cropped_to_the_context() -> None:
    generation = grown(1, 2, 3)

    assert [generation.context(place, 4) for place in range(4)] == [(7, 8, 9), (7, 8, 9, 1), (8, 9, 1, 2), (9, 1, 2, 3)]
    assert [generation.place_of(generation.context(place, 4), 4) for place in range(3)] == [0, 1, 2]
    assert generation.place_of((7, 8), 4) is None
    assert generation.place_of((7, 8, 9, 5), 4) is None


def test_another_token_begins_a_branch_that_shares_what_was_before() -> None:
    generation = grown(1, 2, 3).with_choice(1, step(5)).with_step(step(6))

    assert texts(generation) == [[1, 2, 3], [1, 5, 6]]
    assert generation.branch == 1
    assert (generation.branches[1].origin, generation.branches[1].fork, generation.branches[1].name) == (
        0,
        1,
        "Branch 2",
    )
    assert len(generation.nodes) == 5


def test_the_first_token_can_be_another_one_too() -> None:
    generation = grown(1, 2).with_choice(0, step(5))

    assert texts(generation) == [[1, 2], [5]]
    assert generation.nodes[2].parent is None


def test_the_same_token_makes_no_branch() -> None:
    generation = grown(1, 2, 3).with_choice(1, step(2))

    assert texts(generation) == [[1, 2, 3]]
    assert generation.shown == 1


def test_a_token_that_another_branch_has_there_goes_to_that_branch() -> None:
    forked = grown(1, 2, 3).with_choice(1, step(5))

    back = forked.with_choice(1, step(2))

    assert back.branch == 0
    assert texts(back) == [[1, 2, 3], [1, 5]]


def test_the_same_token_after_other_tokens_is_another_step() -> None:
    forked = grown(1, 2, 3).with_choice(0, step(5)).with_step(step(2))

    assert texts(forked.with_choice(1, step(4))) == [[1, 2, 3], [5, 2], [5, 4]]


def test_going_to_a_branch_stays_at_the_place_if_it_has_one() -> None:
    generation = grown(1, 2, 3, 4).with_choice(1, step(5))

    assert dataclasses.replace(generation.on_branch(0), shown=3).on_branch(1).shown == 1
    assert generation.on_branch(0).shown == 1


def test_branches_have_names_of_their_own() -> None:
    generation = grown(1, 2).with_choice(1, step(5)).with_name(0, "Branch 3").with_choice(1, step(6))

    assert [branch.name for branch in generation.branches] == ["Branch 3", "Branch 2", "Branch 4"]


def test_undo_and_redo_go_back_and_forth() -> None:
    one, two = grown(1), grown(1, 2)
    history = History().after("a", Generation(PROMPT)).after("b", one)

    history, present = history.undone(two)
    assert present == one
    history, present = history.undone(present)
    assert present == Generation(PROMPT)
    assert [change.what for change in history.future] == ["b", "a"]
    history, present = history.redone(present)
    history, present = history.redone(present)

    assert present == two
    assert [change.what for change in history.past] == ["a", "b"]


def test_something_new_ends_what_could_be_redone() -> None:
    history, _ = History().after("a", grown(1)).undone(grown(1, 2))

    assert history.after("c", grown(1)).future == ()


def test_only_so_much_can_be_undone() -> None:
    history = History()
    for number in range(500):
        history = history.after(str(number), grown(1))

    assert len(history.past) == 200
    assert history.past[-1].what == "499"


def test_a_tree_can_be_written_as_json() -> None:
    generation = grown(1, 2).with_choice(1, step(5))

    written = json.loads(json.dumps(dataclasses.asdict(generation)))

    assert [node["chosen"]["id"] for node in written["nodes"]] == [1, 2, 5]
    assert written["branches"][1] == {"name": "Branch 2", "tip": 2, "origin": 0, "fork": 1}


def test_a_branch_leaves_the_one_whose_step_it_replaces() -> None:
    """On branch 2 the steps before the fork are branch 1's, and the forked one has its place beside it."""
    second = grown(1, 2, 3).with_choice(2, step(5))

    for place, owner in ((0, 0), (1, 0), (2, 0)):
        assert second.with_choice(place, step(6)).branches[2].origin == owner
    assert second.with_step(step(6)).with_choice(3, step(7)).branches[2].origin == 1
    third = second.with_choice(0, step(6)).with_choice(0, step(7))
    assert [(branch.origin, branch.fork) for branch in third.branches] == [(None, 0), (0, 2), (0, 0), (0, 0)]
    assert texts(third) == [[1, 2, 3], [1, 2, 5], [6], [7]]
