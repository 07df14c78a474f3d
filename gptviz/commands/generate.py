"""``gptviz generate``: the greedy loop."""

import argparse

from gptviz.commands.chosen_model import chosen
from gptviz.commands.common import TOP, UsageError, add_json, add_text, candidate_json, encode_prompt, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text(parser)
    parser.add_argument("--max-new-tokens", type=int, required=True, metavar="N")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    import torch

    from gptviz.analysis.candidates import top_candidates
    from gptviz.model import greedy_steps

    if options.max_new_tokens < 0:
        raise UsageError(f"--max-new-tokens must be at least 0, but is {options.max_new_tokens}")
    choice = chosen(options)
    tokenizer = choice.tokenizer
    prompt = encode_prompt(choice, options.text, None)
    ids, steps = list(prompt), []
    for step in greedy_steps(choice.model, torch.tensor([prompt]), options.max_new_tokens):
        top = [candidate_json(c, tokenizer) for c in top_candidates(step.logits[0].numpy(), TOP)]
        ids.append(int(step.next_ids))
        steps.append({"context_tokens": step.context.shape[1], **top[0], "top": top})
        if not options.json:
            print(f"{top[0]['probability'] * 100:9.5f} %  {top[0]['id']:>6}  {top[0]['text']!r}", flush=True)
    text = tokenizer.decode(ids)
    if options.json:
        print_json({"prompt_ids": prompt, "ids": ids, "text": text, "steps": steps})
    else:
        print(text)
    return 0
