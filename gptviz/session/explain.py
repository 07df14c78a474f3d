"""From an exception to a message that says what, why and what to do."""

from collections.abc import Sequence

from gptviz.checkpoints.errors import printable
from gptviz.session.state import Message, PromptTokens

LOAD_THE_MODEL = "Load the model (File menu)"


def explain(what: str, error: BaseException) -> Message:
    """Describe ``error``, which happened during ``what``, to a person."""
    kind = type(error).__name__
    text = printable(str(error).strip().rstrip(".")) or kind
    if isinstance(error, MemoryError) or "allocate memory" in text or "can't allocate" in text:
        return Message(what, "the machine has not enough memory for it", "Choose a smaller model or a shorter prompt")
    if kind == "RefusedInputError":
        return Message(what, text[:1].lower() + text[1:], "Choose a smaller configuration")
    if kind in ("CheckpointError", "HeadsNeeded", "RunGiven", "RunFileError", "ExportError"):
        return Message(what, error.why, error.remedy)  # type: ignore[attr-defined]
    if kind == "TableError":
        return Message(what, text, "Choose another table, or write the prompt as token IDs")
    if kind == "InputError":
        return Message(what, text, "Change the prompt and press Run")
    if kind == "NotRecordedError":
        return Message(what, text, LOAD_THE_MODEL)
    if kind == "DrawError":
        return Message(what, text, "Choose Greedy in the pane Loop; Checks tells where the numbers end")
    if kind == "TraceError":
        return Message(what, text, "Press Run")
    return Message(what, f"{kind}: {text}", "The last result stays on screen; press Run to try again")


def too_long(tokens: int, context_length: int) -> Message:
    """Say that the prompt does not fit the model."""
    excess = tokens - context_length
    return Message(
        "This prompt is too long",
        f"{tokens:,} tokens are more than the model's context of {context_length:,}",
        f"Shorten it by {excess:,} {'token' if excess == 1 else 'tokens'}",
    )


def too_long_to_paste(characters: int) -> Message:
    """Say that a text was not pasted."""
    return Message(
        "The text was not pasted",
        f"its {characters:,} characters are more than any context holds",
        "Paste a part of it; 1,024 tokens are about 4,000 characters of English",
    )


def unequal(counts: Sequence[int]) -> Message:
    """Say that the texts of a batch have different numbers of tokens."""
    listed = f"{', '.join(f'{count:,}' for count in counts[:-1])} and {counts[-1]:,}"
    return Message(
        "These prompts make no batch",
        f"they have {listed} tokens, and a batch is one tensor with equally long rows",
        "Change them until the numbers of tokens agree",
    )


MOST_ROWS = 8
TOO_MANY_ROWS = Message(
    "No row was added", f"a batch in the window has at most {MOST_ROWS} rows", "Use gptviz.capture for larger batches"
)
ONE_TEXT_ONLY = Message(
    "Nothing was generated",
    "a batch is on screen, and the greedy loop continues one text",
    "Remove the other rows and press Run",
)
SAME_TOKEN_AGAIN = Message(
    "No branch was made",
    "the same token was chosen again",
    "Change the temperature or the seed of the draw, or pick one of the candidates",
)
STOPPED_ON_THE_WAY = Message(
    "The panes show another text than the strip",
    "the pass of these tokens was stopped",
    "Choose a token of the strip, or append one, to see its pass",
)
EMPTY_PROMPT = Message("There is nothing to run", "the prompt is empty", "Type at least one character")


def problem_of(rows: Sequence[PromptTokens], context_length: int) -> Message | None:
    """Return why ``rows`` can't be run, or None."""
    for row in rows:
        if row.problem:
            return Message("The prompt has no tokens", row.problem, "Change it, or choose another token table")
    counts = [len(row.ids) for row in rows]
    if not all(counts):
        return EMPTY_PROMPT
    if max(counts) > context_length:
        return too_long(max(counts), context_length)
    return unequal(counts) if len(set(counts)) > 1 else None
