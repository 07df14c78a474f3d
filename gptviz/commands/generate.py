"""``gptviz generate``: the greedy loop, or one that draws."""

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import (
    TOP,
    UsageError,
    add_json,
    add_text,
    candidate_json,
    encode_prompt,
    print_json,
    whole_number,
)
from gptviz.commands.decoding import add_decoding, decoding_of

if TYPE_CHECKING:
    from torch import Tensor

    from gptviz.analysis.decoding import Choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    parser.add_argument("--max-new-tokens", type=whole_number, required=True, metavar="N")
    add_decoding(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.decoding import DrawError, choose
    from gptviz.model import greedy_steps

    if options.max_new_tokens < 0:
        raise UsageError(f"--max-new-tokens must be at least 0, but is {options.max_new_tokens}")
    model = chosen(options)
    decoding = decoding_of(options, model.config.vocab_size)
    tokenizer = model.tokenizer
    prompt = encode_prompt(model, options.text, None)
    if options.max_new_tokens == 0:
        print("gptviz: --max-new-tokens is 0, so nothing is generated", file=sys.stderr)
    ids: list[int] = list(prompt)
    steps: list[dict[str, Any]] = []
    made: list[Choice] = []

    def choice(last: "Tensor") -> "Tensor":
        try:
            made.append(choose(last[0].numpy(), decoding, len(ids), TOP))
        except DrawError as error:
            raise UsageError(f"{error}: leave --temperature out to take the largest logit") from error
        return torch.tensor([[made[-1].chosen.id]])

    for step in greedy_steps(model.model, torch.tensor([prompt]), options.max_new_tokens, choice):
        token, top = (
            candidate_json(made[-1].chosen, tokenizer),
            [candidate_json(c, tokenizer) for c in made[-1].candidates],
        )
        chance = {} if decoding.greedy else {"chance": made[-1].chance}
        ids.append(int(step.next_ids))
        steps.append({"context_tokens": step.context.shape[1], **token, **chance, "top": top})
        if not options.json:
            print(f"{token['probability'] * 100:9.5f} %  {token['id']:>6}  {token['text']!r}", flush=True)
    text = tokenizer.decode(ids)
    if options.json:
        drawn = {} if decoding.greedy else {"decoding": asdict(decoding)}
        print_json({"prompt_ids": prompt, "ids": ids, "text": text, **drawn, "steps": steps})
    else:
        print(text)
    return 0
