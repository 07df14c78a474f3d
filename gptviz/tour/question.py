"""A question with four answers: one right, three that somebody could believe."""

import random
from collections.abc import Iterable
from dataclasses import dataclass

MANY = 4  # answers


@dataclass(frozen=True)
class Answer:
    """An answer as it is written, and why it is right or where its mistake lies."""

    text: str
    reason: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """What is asked, and the answers in the order in which they stand."""

    name: str
    text: str
    answers: tuple[Answer, ...]

    @property
    def right(self) -> int:
        """The place of the right answer."""
        return next(place for place, answer in enumerate(self.answers) if answer.right)


def ask(name: str, text: str, right: Answer, wrong: Iterable[Answer], seed: int) -> Question:
    """Choose three of ``wrong``, the earlier the rather, and shuffle them with ``right``: as ``seed`` says.

    Answers that are written like one that was taken already are passed over, so no two of the four are equal.

    Raises
    ------
    ValueError
        If fewer than three wrong answers are left.
    """
    taken = {right.text: Answer(right.text, right.reason, right=True)}
    for answer in wrong:
        if len(taken) < MANY:
            taken.setdefault(answer.text, Answer(answer.text, answer.reason))
    if len(taken) < MANY:
        raise ValueError(f"the question {name!r} has only {len(taken)} different answers")
    answers = list(taken.values())
    random.Random(f"{name}/{seed}").shuffle(answers)  # noqa: S311 - an order, no secret
    return Question(name, text, tuple(answers))
