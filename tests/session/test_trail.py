"""The way from number to number: to an operand, back, and forward again."""

from holding import Wait

from gptviz.analysis.arithmetic import Place, explain
from gptviz.capture import catalogue
from gptviz.model import TINY
from gptviz.session.numbers import selected_place
from gptviz.session.session import Session

WEIGHT = Place("trf_blocks.0.att.weights", (0, 1, 3, 1))
SCORE = Place("trf_blocks.0.att.masked", (0, 1, 3, 1))
KEY = Place("trf_blocks.0.att.keys", (0, 1, 1, 5))


def here(session: Session) -> Place | None:
    place = selected_place(session.state.selection, session.state.trace)
    assert place == session.state.trail.here
    return place


def test_every_number_can_be_selected(ready: Session) -> None:
    for stage in catalogue(TINY):
        shape = stage.shape(TINY, 1, 4)
        for index in (tuple(0 for _ in shape), tuple(size - 1 for size in shape), tuple(size // 2 for size in shape)):
            ready.go_to(Place(stage.name, index))
            assert here(ready) == Place(stage.name, index)


def test_every_stage_has_a_number_before_one_is_chosen(ready: Session) -> None:
    for stage in catalogue(TINY):
        ready.select_stage(stage.name)

        place = here(ready)
        assert place is not None
        assert ready.state.trace is not None
        assert explain(ready.state.trace, place.name, place.index) is not None


def test_without_a_choice_it_is_the_last_token_and_the_likeliest_one(ready: Session) -> None:
    assert ready.state.trace is not None
    likeliest = int(ready.state.trace["next"][0, 0])

    ready.select_stage("out_head")
    assert here(ready) == Place("out_head", (0, 3, likeliest))
    ready.select_stage("trf_blocks.1.att.scores")
    assert here(ready) == Place("trf_blocks.1.att.scores", (0, 0, 3, 3))


def test_a_feature_beyond_the_width_wraps_around(ready: Session) -> None:
    ready.go_to(Place("trf_blocks.0.ff.layers.1", (0, 2, 100)))
    ready.select_stage("trf_blocks.0.shortcut2")

    assert here(ready) == Place("trf_blocks.0.shortcut2", (0, 2, 100 % 32))
    assert ready.state.selection.feature == 100  # and is there again in the wide stages


def test_following_an_operand_can_be_undone_and_done_again(ready: Session) -> None:
    ready.go_to(WEIGHT)
    ready.trail.follow(SCORE)
    ready.trail.follow(KEY)
    assert here(ready) == KEY
    assert (ready.state.selection.query, ready.state.selection.feature) == (1, 5)

    ready.trail.back()
    assert here(ready) == SCORE
    assert (ready.state.selection.query, ready.state.selection.key) == (3, 1)
    ready.trail.back()
    assert here(ready) == WEIGHT
    ready.trail.back()
    assert here(ready) == WEIGHT
    ready.trail.forward()
    ready.trail.forward()
    ready.trail.forward()
    assert here(ready) == KEY


def test_another_operand_replaces_the_way_forward(ready: Session) -> None:
    ready.go_to(WEIGHT)
    ready.trail.follow(SCORE)
    ready.trail.back()

    ready.trail.follow(KEY)

    assert ready.state.trail.places == (WEIGHT, KEY)


def test_a_free_choice_begins_a_new_way_and_leaves_the_old_one_behind_it(ready: Session) -> None:
    ready.go_to(WEIGHT)
    ready.trail.follow(SCORE)

    ready.select_stage("final_norm", query=2, feature=3)
    ready.select(feature=4)  # nothing was followed from feature 3: it is no step of the way

    trail = ready.state.trail
    assert [str(trail.places[at]) for at in trail.way] == ["final_norm[0, 2, 4]"]
    assert trail.places == (WEIGHT, SCORE, trail.here)
    ready.trail.back()
    assert here(ready) == SCORE
    assert list(ready.state.trail.way) == [0, 1]


def test_parameters_are_the_end_of_the_way(ready: Session) -> None:
    ready.go_to(Place("tok_emb", (0, 1, 2)))

    ready.trail.follow(Place("tok_emb.weight", (11, 2), parameter=True))

    assert here(ready) == Place("tok_emb", (0, 1, 2))


def test_a_longer_prompt_keeps_the_way_and_a_shorter_one_begins_anew(ready: Session, wait: Wait) -> None:
    ready.go_to(WEIGHT)
    ready.trail.follow(SCORE)

    ready.set_prompt("Hello, I am here")
    ready.run()
    wait()
    assert ready.state.trail.places == (WEIGHT, SCORE)
    ready.set_prompt("Hello")
    ready.run()
    wait()

    assert ready.state.trail.places == (Place("trf_blocks.0.att.masked", (0, 1, 0, 0)),)


def test_another_model_forgets_the_way(ready: Session, wait: Wait) -> None:
    ready.go_to(WEIGHT)
    ready.trail.follow(SCORE)

    ready.use_model("tiny", 7)
    wait()

    assert len(ready.state.trail.places) == 1


def test_a_batch_has_its_own_numbers(ready: Session, wait: Wait) -> None:
    ready.add_prompt()
    ready.run()
    wait()

    ready.go_to(Place("trf_blocks.0.norm1", (1, 2, 3)))
    assert ready.state.selection.row == 1
    ready.trail.follow(Place("drop_emb", (0, 2, 3)))
    assert ready.state.selection.row == 0


def test_the_way_does_not_grow_without_end(ready: Session) -> None:
    for feature in range(250):
        ready.trail.follow(Place("drop_emb", (0, 0, feature % 32)))

    trail = ready.state.trail
    assert len(trail.places) == 200
    assert here(ready) == Place("drop_emb", (0, 0, 249 % 32))
    assert list(trail.way) == list(range(200))
