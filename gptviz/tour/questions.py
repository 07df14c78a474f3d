"""The questions about a forward pass, made from the sizes of the present run.

Each one lists more misconceptions than are needed, the likeliest first: where sizes coincide, as with a batch of one
or a single head, several of them are written alike or are even right, and the next one takes the place.
"""

from collections.abc import Callable, Iterator

from gptviz.tour.question import Answer, Question, ask
from gptviz.tour.sizes import Sizes, shape

_Parts = tuple[str, Answer, list[Answer]]


def question(name: str, sizes: Sizes, seed: int) -> Question:
    """Ask ``name`` about a run of ``sizes``; ``seed`` decides the order of the answers.

    Raises
    ------
    KeyError
        If there is no such question.
    """
    text, right, wrong = QUESTIONS[name](sizes)
    return ask(name, text, right, [*wrong, *_spare(right)], seed)


def _spare(right: Answer) -> Iterator[Answer]:
    """For runs so small that the misconceptions give too few different answers."""
    if right.text.startswith("("):
        sizes = [int(size) for size in right.text.strip("()").split(",") if size.strip()]
        yield Answer(shape(*sizes, 1), "An axis of size 1 at the end would have to be put there; nothing does.")
        yield Answer(shape(1, *sizes), "An axis of size 1 in front would have to be put there; nothing does.")
        yield Answer(shape(*sizes[:-1], sizes[-1] + 1), "Off by one: the last axis keeps its exact size.")
    else:
        number = int(right.text.replace(",", ""))
        yield Answer(f"{number + 1:,}", "Off by one: count once more.")
        yield Answer(f"{2 * number + 2:,}", "Twice too many, and two over.")
        yield Answer(f"{3 * number + 5:,}", "Three times too many, and more.")


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count:,} tokens"


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count:,} texts"


def _run(s: Sizes) -> str:
    return f"{_texts(s.batch)} of {_tokens(s.tokens)}{'' if s.batch == 1 else ' each'}"


def _tok_emb(s: Sizes) -> _Parts:
    B, T, E, _, _, _, V = s.letters
    return (
        f"Token IDs of shape {shape(B, T)} go into an embedding table of {V:,} rows and {E:,} columns. "
        "What shape comes out?",
        Answer(shape(B, T, E), f"Every ID picks one row of the table, so each token becomes {E:,} numbers."),
        [
            Answer(shape(B, T, V), "That would be a one-hot row for each token; the look-up returns the table's row."),
            Answer(shape(B, E), "The tokens are not averaged: each keeps a vector of its own."),
            Answer(shape(B * T, E), "Flattened: batch and position stay separate axes."),
            Answer(shape(B, E, T), "Transposed: the features come last."),
            Answer(shape(B, T), "IDs go in; vectors come out, so an axis is added."),
            Answer(shape(T, E), "The batch axis does not disappear, not even when it is 1."),
        ],
    )


def _embeddings(s: Sizes) -> _Parts:
    B, T, E, _, _, _, _ = s.letters
    return (
        f"Token embeddings of shape {shape(B, T, E)} meet position embeddings of shape {shape(T, E)}. "
        "What shape do they have together?",
        Answer(shape(B, T, E), "They are added, feature by feature; each text of the batch gets the same positions."),
        [
            Answer(shape(B, T, 2 * E), "Concatenated: GPT adds the two, so the width stays."),
            Answer(shape(B, 2 * T, E), "Appended: positions are no further tokens."),
            Answer(shape(B, T + 1, E), "Off by one: no token is added for the position."),
            Answer(shape(T, E), "Broadcasting fits the smaller one to the larger, so the batch axis stays."),
            Answer(shape(B * T, E), "Flattened: batch and position stay separate axes."),
        ],
    )


def _means(s: Sizes) -> _Parts:
    B, T, E, _, _, _, _ = s.letters
    return (
        f"A LayerNorm gets {shape(B, T, E)}. How many means does it compute?",
        Answer(f"{B * T:,}", f"One for each token of each text: {B:,} × {T:,}, each over {E:,} features."),
        [
            Answer(f"{E:,}", "One for each feature, over all tokens: that is batch normalisation."),
            Answer("1", "One for the whole tensor would let every token change every other."),
            Answer(f"{B:,}", "One for each text would mix its tokens, and later ones would leak into earlier ones."),
            Answer(f"{T:,}", "One for each position would mix the texts of a batch."),
            Answer(f"{B * T * E:,}", "A mean of a single number would be that number."),
        ],
    )


def _norm(s: Sizes) -> _Parts:
    B, T, E, _, _, _, _ = s.letters
    return (
        f"A LayerNorm gets {shape(B, T, E)}. What shape does it return?",
        Answer(shape(B, T, E), "Every number is shifted and scaled in its place; none is lost."),
        [
            Answer(shape(B, T), "Mean and variance are one number a token, but they are only used, not returned."),
            Answer(shape(B, T, 2), "Mean and variance are used inside; what comes out is the normalised tensor."),
            Answer(shape(B, T, 1), "That is the mean's shape with the axis kept, inside the layer."),
            Answer(shape(B, E, T), "Transposed: the axes stay in their order."),
            Answer(shape(E), "That is the shape of scale and of shift."),
            Answer(shape(B * T, E), "Flattened: batch and position stay separate axes."),
        ],
    )


def _queries(s: Sizes) -> _Parts:
    B, T, E, H, D, _, _ = s.letters
    return (
        f"Queries of shape {shape(B, T, E)} are dealt out to {H:,} {'head' if H == 1 else 'heads'}. "
        "What shape do they have when scores are computed?",
        Answer(
            shape(B, H, T, D), f"The {E:,} features are cut into {H:,} × {D:,}, and the heads move before the tokens."
        ),
        [
            Answer(shape(B, T, H, D), "Half way: after view, and before transpose puts the heads in front."),
            Answer(shape(B, H, T, E), "Copied: each head gets a part of the features, not all of them."),
            Answer(shape(B, T, E), "Unchanged: the last axis is split into heads and features."),
            Answer(shape(B * H, T, D), "Flattened: heads get an axis of their own, beside the batch's."),
            Answer(shape(B, H, D, T), "Transposed once too often: that is how the keys stand in the product."),
        ],
    )


def _scores(s: Sizes) -> _Parts:
    B, T, E, H, D, _, _ = s.letters
    given = shape(B, H, T, D)
    return (
        f"Queries and keys have shape {given} each. What shape do the attention scores have?",
        Answer(shape(B, H, T, T), "In each head every query meets every key: tokens by tokens."),
        [
            Answer(shape(B, T, T), "One map for all heads: every head has a map of its own."),
            Answer(given, "Multiplied feature by feature: the dot product sums the features away."),
            Answer(shape(B, H, D, D), "That is queriesᵀ · keys: features by features instead of tokens by tokens."),
            Answer(shape(B, T, E), "Merged too early: the heads come together after the values were mixed."),
            Answer(shape(B, H, T), "A query has a score for each key, not one in all."),
            Answer(shape(B, H, T * T), "Flattened: queries and keys stay separate axes."),
        ],
    )


def _masked(s: Sizes) -> _Parts:
    T = s.tokens
    return (
        f"A text has {_tokens(T)}, so each head has a map of {T:,} × {T:,} scores. "
        "How many of them does the causal mask hide?",
        Answer(f"{T * (T - 1) // 2:,}", f"All pairs with a later key: {T:,} × {T - 1:,} ÷ 2. The diagonal stays."),
        [
            Answer(f"{T * (T + 1) // 2:,}", "The diagonal too: but each token may look at itself."),
            Answer(f"{T * T - T:,}", "Both sides of the diagonal: but earlier tokens may be looked at."),
            Answer(f"{T:,}", "Only the diagonal: that is the one place where query and key are the same token."),
            Answer(f"{T - 1:,}", "The last token's keys: but each query has later keys of its own."),
            Answer(f"{T * T:,}", "All of them: then no token could look anywhere."),
            Answer("0", "None: then a token could read the word that it has to predict."),
        ],
    )


def _context(s: Sizes) -> _Parts:
    B, T, E, H, D, _, _ = s.letters
    return (
        f"Attention weights {shape(B, H, T, T)} are multiplied with values {shape(B, H, T, D)}. "
        "What shape is the context?",
        Answer(shape(B, H, T, D), "For each query a mixture of the values, which has the shape of a value."),
        [
            Answer(shape(B, H, T, T), "The key axis is summed over; what is left are queries and features."),
            Answer(shape(B, T, E), "That comes next, when the heads are put side by side."),
            Answer(shape(B, H, D, T), "Transposed: queries stay before features."),
            Answer(shape(B, T, D), "The heads are not averaged: each has a context of its own."),
            Answer(shape(B, H, D), "Every query has a mixture of its own, so the token axis stays."),
        ],
    )


def _merged(s: Sizes) -> _Parts:
    B, T, E, H, D, _, _ = s.letters
    return (
        f"The heads' results of shape {shape(B, H, T, D)} are merged. What shape comes out?",
        Answer(shape(B, T, E), f"The heads' features stand side by side: {H:,} × {D:,} = {E:,} for each token."),
        [
            Answer(shape(B, T, D), "Averaged or added: but each head keeps its features, beside the others'."),
            Answer(shape(B, H * T, D), "Stacked as tokens: the heads join along the features."),
            Answer(shape(B, T, H * E), "Every head had a part of the features, so together they have them once."),
            Answer(shape(B, T, H, D), "Half way: after transpose, before view joins the last two axes."),
            Answer(shape(B, H, T, D), "Unchanged: that is what goes in."),
            Answer(shape(B * T, E), "Flattened: batch and position stay separate axes."),
        ],
    )


def _back(s: Sizes) -> str:
    """What the second layer of the feed-forward network does to the middle's width."""
    return "Contracted" if s.letters[5] > s.config.emb_dim else "Brought back"


def _expand(s: Sizes) -> _Parts:
    B, T, E, _, _, F, _ = s.letters
    return (
        f"The feed-forward network gets {shape(B, T, E)}. What shape has its first linear layer's output?",
        Answer(shape(B, T, F), f"{'Expanded: e' if F > E else 'E'}very token alone goes from {E:,} to {F:,} features."),
        [
            Answer(shape(B, T, E), "That is the shape after the second layer, which contracts again."),
            Answer(shape(B, 4 * T, E), "Changed along the wrong axis: no token is added."),
            Answer(shape(B * T, F), "Flattened: a linear layer works on the last axis and leaves the others."),
            Answer(shape(B, T, E + 4), f"Not four features wider: the layer was made to return {F:,}."),
            Answer(shape(B, F, T), "Transposed: the features stay last."),
        ],
    )


def _gelu(s: Sizes) -> _Parts:
    B, T, E, _, _, F, _ = s.letters
    return (
        f"{s.activation} gets {shape(B, T, F)}. What shape does it return?",
        Answer(shape(B, T, F), f"{s.activation} bends each number by itself; a shape never changes by that."),
        [
            Answer(shape(B, T, E), f"{_back(s)}: the second linear layer does that, not {s.activation}."),
            Answer(shape(B, T, max(1, F // 2)), "Negative numbers become small or 0; they are not thrown away."),
            Answer(shape(B, T), "Nothing is summed over the features."),
            Answer(shape(B * T * F), "Flattened: elementwise does not mean that the axes are lost."),
            Answer(shape(B, T, 2 * F), "Value and gradient do not both go on: one number in, one number out."),
        ],
    )


def _feed_forward(s: Sizes) -> _Parts:
    B, T, E, _, _, F, _ = s.letters
    return (
        f"A whole feed-forward network, linear, {s.activation}, linear, gets {shape(B, T, E)}. "
        "What shape does it return?",
        Answer(shape(B, T, E), f"{_back(s)} again: only so can its result be added to what came in."),
        [
            Answer(shape(B, T, F), f"{'Expanded: t' if F > E else 'T'}hat is the shape in the middle."),
            Answer(shape(B, T, max(1, E // 4)), "Compressed: the second layer undoes what the first one did, no more."),
            Answer(shape(B, T, E + F), "Concatenated: the middle is not handed on."),
            Answer(shape(B * T, E), "Flattened: a linear layer leaves all axes but the last as they are."),
            Answer(shape(B, E), "Each token goes through by itself, and none is merged with another."),
            Answer(shape(B, T, 4 * F), "Expanded twice: the second layer leads back."),
        ],
    )


def _shortcut(s: Sizes) -> _Parts:
    B, T, E, _, _, _, _ = s.letters
    return (
        f"A shortcut joins attention's result {shape(B, T, E)} with the block's input {shape(B, T, E)}. "
        "What shape comes out?",
        Answer(shape(B, T, E), "They are added, number by number."),
        [
            Answer(shape(B, T, 2 * E), "Concatenated: then every block would be wider than the one before."),
            Answer(shape(B, 2 * T, E), "Appended: the text does not get longer inside the model."),
            Answer(shape(2, B, T, E), "Stacked: the two are added and no axis is new."),
            Answer(shape(2 * B, T, E), "Put together as a larger batch: but each text is joined with itself."),
        ],
    )


def _stack(s: Sizes) -> _Parts:
    B, T, E, _, _, F, _ = s.letters
    L = s.config.n_layers
    blocks = "1 block" if L == 1 else f"{L:,} blocks"
    return (
        f"Embeddings of shape {shape(B, T, E)} go through {blocks}. What shape leaves the last one?",
        Answer(shape(B, T, E), "Each block returns the shape that it got; that is why they can be stacked."),
        [
            Answer(shape(B, T, L * E), "The blocks come one after the other; their results are not put side by side."),
            Answer(shape(L, B, T, E), "Stacked: only the last block's output goes on."),
            Answer(shape(B, T, F), "That is the middle of a feed-forward network, inside a block."),
            Answer(shape(B, E), "No block merges the tokens; each position goes all the way."),
            Answer(shape(B, max(1, T - 1), E), "No token is used up on the way."),
        ],
    )


def _logits(s: Sizes) -> _Parts:
    B, T, E, _, _, _, V = s.letters
    return (
        f"The model gets {_run(s)}, and its vocabulary has {V:,} tokens. What shape do the logits have?",
        Answer(shape(B, T, V), "A score for every token of the vocabulary, at every position of every text."),
        [
            Answer(shape(B, V), "That is the last position alone; the model scores what follows at each position."),
            Answer(shape(B, T, E), "The output head leads from the features to the vocabulary."),
            Answer(shape(B, T), "Those are IDs: they come from the logits by argmax."),
            Answer(shape(B, T + 1, V), "Off by one: the next token is not there yet."),
            Answer(shape(B * T, V), "Flattened: training code often does that for the loss; the model does not."),
            Answer(shape(T, V), "The batch axis does not disappear, not even when it is 1."),
        ],
    )


def _last(s: Sizes) -> _Parts:
    B, T, E, _, _, _, V = s.letters
    return (
        f"From logits of shape {shape(B, T, V)} only the last position is taken, as logits[:, -1, :]. "
        "What shape is left?",
        Answer(shape(B, V), "A whole number as an index takes the axis away: a row of scores for each text."),
        [
            Answer(shape(B, 1, V), "A slice, -1:, would leave the axis with size 1; the index -1 takes it away."),
            Answer(shape(B, T - 1, V), "That is all but the last: [:, :-1, :]."),
            Answer(shape(B, T), "That is logits[:, :, -1]: the last token of the vocabulary at each position."),
            Answer(shape(V), "The first colon keeps every text of the batch, even if there is only one."),
            Answer(shape(B, E), "The features were left behind at the output head."),
        ],
    )


def _next_context(s: Sizes) -> _Parts:
    T, C = s.tokens, s.config.context_length
    after = min(T + 1, C)
    reason = (
        "The chosen token is appended, so the context is one longer."
        if T < C
        else f"It would be {T + 1:,}, but the loop keeps the last {C:,} only: the model knows no more positions."
    )
    return (
        f"The greedy loop reads {_tokens(T)} and chooses one. The model takes at most {C:,}. "
        "How many tokens does it read in the next step?",
        Answer(f"{after:,}", reason),
        [
            Answer(f"{T:,}", "The chosen token is appended; it takes no other one's place."),
            Answer("1", "Not the new token alone: this model computes the whole text again in each step."),
            Answer(f"{2 * T:,}", "One token is chosen, although there are logits at every position."),
            Answer(f"{C:,}", "Nothing is filled up: a shorter text makes a smaller tensor."),
            Answer(f"{T + 1:,}", "The text is longer than the context, so its beginning is cut off."),
            Answer(f"{max(0, T - 1):,}", "Nothing is used up by being read."),
        ],
    )


def _table(s: Sizes) -> _Parts:
    _, T, E, _, D, _, V = s.letters
    C = s.config.context_length
    return (
        f"A vocabulary of {V:,} tokens, {E:,} features, contexts of up to {C:,} tokens: "
        "how many parameters has the token embedding?",
        Answer(f"{V * E:,}", "A row for each token of the vocabulary, a column for each feature."),
        [
            Answer(f"{C * E:,}", "That is the position embedding: a row for each position."),
            Answer(f"{V * E + E:,}", "An embedding has no bias: it is only a table of rows."),
            Answer(f"{T * E:,}", "The prompt's length changes what is looked up, never the table."),
            Answer(f"{V * D:,}", "Heads divide the features later; the rows have all of them."),
            Answer(f"{V * C:,}", "Positions have a table of their own; the two are not multiplied."),
        ],
    )


QUESTIONS: dict[str, Callable[[Sizes], _Parts]] = {
    "tok_emb": _tok_emb,
    "embeddings": _embeddings,
    "means": _means,
    "norm": _norm,
    "queries": _queries,
    "scores": _scores,
    "masked": _masked,
    "context": _context,
    "merged": _merged,
    "expand": _expand,
    "gelu": _gelu,
    "feed_forward": _feed_forward,
    "shortcut": _shortcut,
    "stack": _stack,
    "table": _table,
    "logits": _logits,
    "last": _last,
    "next_context": _next_context,
}
