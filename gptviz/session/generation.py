"""The text that grows: a tree of steps, each a token that was chosen from the logits of one pass."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gptviz.analysis.decoding_settings import GREEDY, Decoding

if TYPE_CHECKING:
    from gptviz.analysis.candidates import Candidate

_MOST_CHANGES = 200  # that can be undone


@dataclass(frozen=True)
class GeneratedStep:
    """One token that was appended, and what it was chosen from.

    ``parent`` is the place in ``Generation.nodes`` of the step before it; None after the prompt. ``candidates`` are the
    likeliest tokens, likeliest first, with logits and probabilities as the model gave them. ``chance`` is the
    probability with which ``chosen`` was drawn: 1 for a greedy step, None for one that a person picked.
    """

    chosen: "Candidate"
    candidates: "tuple[Candidate, ...]"
    context_tokens: int  # that the model saw, after the crop
    parent: int | None = None
    decoding: Decoding = GREEDY
    chance: float | None = 1.0
    ms: float = 0.0  # of the forward pass
    computed: int = 0  # positions that the pass computed
    cached: bool = False  # whether keys and values came from the cache

    @property
    def picked(self) -> bool:
        """Whether a person chose the token."""
        return self.chance is None


@dataclass(frozen=True)
class Branch:
    """One way through the tree: the steps that end with ``tip``, a place in ``Generation.nodes``; None has no step yet.

    ``fork`` is how many generated tokens it shares with the branch ``origin`` that it left; None for the first branch.
    """

    name: str
    tip: int | None = None
    origin: int | None = None
    fork: int = 0


@dataclass(frozen=True)
class Generation:
    """The prompt, all steps of all branches in the order in which they were made, and where the person is.

    ``shown`` is the place on the present branch, from 0, of the step whose trace is on screen.
    """

    prompt: tuple[int, ...] = ()
    nodes: tuple[GeneratedStep, ...] = ()
    branches: tuple[Branch, ...] = (Branch("Branch 1"),)
    branch: int = 0
    shown: int | None = None
    playing: bool = False

    @property
    def steps(self) -> tuple[GeneratedStep, ...]:
        """The steps of the present branch, first to last."""
        return self._steps

    @property
    def ids(self) -> tuple[int, ...]:
        """The prompt and the tokens of the present branch."""
        return self._ids

    def path(self, branch: int) -> tuple[int, ...]:
        """Return the places in ``nodes`` of a branch's steps, first to last."""
        return self._path if branch == self.branch else self._path_to(self.branches[branch].tip)

    def before(self, place: int) -> tuple[int, ...]:
        """Return the IDs that the step at ``place`` was given, before the crop."""
        return self._ids[: len(self.prompt) + place]

    def context(self, place: int, context_length: int) -> tuple[int, ...]:
        """Return the IDs that the model saw for the step at ``place``: the last ``context_length`` of those before."""
        return self.before(place)[-context_length:]

    def place_of(self, context: tuple[int, ...], context_length: int) -> int | None:
        """Return the step of the present branch whose pass was on ``context``, if there is one."""
        if len(context) < context_length:
            place = len(context) - len(self.prompt)
            fits = 0 <= place < len(self.steps) and self.before(place) == context
            return place if fits else None
        places = (*(() if self.shown is None else (self.shown,)), *range(len(self.steps)))
        return next((place for place in places if self.context(place, context_length) == context), None)

    def with_step(self, step: GeneratedStep) -> "Generation":
        """Append ``step`` to the present branch; its pass is the one on screen."""
        return self._choosing(len(self.steps), step)

    def with_choice(self, place: int, step: GeneratedStep) -> "Generation":
        """Choose ``step`` at ``place`` of the present branch, and go on from there.

        After the last step it is appended. Otherwise the other branches stay as they are: a branch that has the same
        token there becomes the present one, and if there is none a new one begins.
        """
        if place >= len(self.steps):
            return self.with_step(step)
        parent = self.nodes[self._path[place]].parent
        for branch in (self.branch, *range(len(self.branches))):
            path = self.path(branch)
            there = self.nodes[path[place]] if len(path) > place else None
            if there is not None and there.parent == parent and there.chosen.id == step.chosen.id:
                return replace(self, branch=branch, shown=place)
        new = Branch(self._free_name(), self._parent_at(place), self._owner(place), place)
        forked = replace(self, branches=(*self.branches, new), branch=len(self.branches))
        return forked._choosing(place, step)

    def with_name(self, branch: int, name: str) -> "Generation":
        """Name a branch."""
        branches = list(self.branches)
        branches[branch] = replace(branches[branch], name=name)
        return replace(self, branches=tuple(branches))

    def on_branch(self, branch: int) -> "Generation":
        """Go to another branch: to its step at the place that is shown, or to its last one."""
        steps = len(self.path(branch))
        shown = None if steps == 0 else min(steps - 1 if self.shown is None else self.shown, steps - 1)
        return replace(self, branch=branch, shown=shown)

    # --- inside ------------------------------------------------------------------------------------------

    @cached_property
    def _path(self) -> tuple[int, ...]:
        return self._path_to(self.branches[self.branch].tip)

    @cached_property
    def _steps(self) -> tuple[GeneratedStep, ...]:
        return tuple(self.nodes[node] for node in self._path)

    @cached_property
    def _ids(self) -> tuple[int, ...]:
        return self.prompt + tuple(step.chosen.id for step in self._steps)

    def _path_to(self, tip: int | None) -> tuple[int, ...]:
        path = []
        while tip is not None:
            path.append(tip)
            tip = self.nodes[tip].parent
        return tuple(reversed(path))

    def _parent_at(self, place: int) -> int | None:
        return self._path[place - 1] if place > 0 else None

    def _owner(self, place: int) -> int:
        """Return the branch that the present one has its step at ``place`` from: itself, or one that it left later."""
        branch = self.branch
        while (origin := self.branches[branch].origin) is not None and place <= self.branches[branch].fork:
            branch = origin
        return branch

    def _choosing(self, place: int, step: GeneratedStep) -> "Generation":
        step = replace(step, parent=self._parent_at(place))
        branches = list(self.branches)
        branches[self.branch] = replace(branches[self.branch], tip=len(self.nodes))
        return replace(self, nodes=(*self.nodes, step), branches=tuple(branches), shown=place)

    def _free_name(self) -> str:
        names = {branch.name for branch in self.branches}
        number = len(self.branches) + 1
        while f"Branch {number}" in names:
            number += 1
        return f"Branch {number}"


@dataclass(frozen=True)
class Change:
    """What was done to a generation, such as "pick a token", and the generation before it, or after it if undone."""

    what: str
    generation: Generation


@dataclass(frozen=True)
class History:
    """What can be undone and redone, the next one last."""

    past: tuple[Change, ...] = ()
    future: tuple[Change, ...] = ()

    def after(self, what: str, before: Generation) -> "History":
        """Note a change to the generation ``before``; what was undone can't be redone any more."""
        change = Change(what, replace(before, playing=False))
        return History((*self.past, change)[-_MOST_CHANGES:])

    def undone(self, present: Generation) -> "tuple[History, Generation]":
        """Take back the last change to ``present``; return what is left and the generation before the change."""
        last = self.past[-1]
        undone = Change(last.what, replace(present, playing=False))
        return History(self.past[:-1], (*self.future, undone)), last.generation

    def redone(self, present: Generation) -> "tuple[History, Generation]":
        """Make the change again that was undone last."""
        last = self.future[-1]
        redone = Change(last.what, replace(present, playing=False))
        return History((*self.past, redone), self.future[:-1]), last.generation
