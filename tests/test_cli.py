"""The ``gptviz`` command, as it is called from a shell and from a script."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shell import HELLO, TINY, Shell, run

from gptviz import __version__
from gptviz.cli import main

# --- tokens ----------------------------------------------------------------------------------------------


def test_tokens_are_listed_with_id_text_and_bytes(shell: Shell) -> None:
    assert shell.json("tokens", "Hello 🤗") == {
        "tokens": [
            {"position": 0, "id": 15496, "text": "Hello", "bytes": "48656c6c6f"},
            {
                "position": 1,
                "id": 12520,
                "text": "‹20·F0·9F›".replace("20·", " ").replace("‹ ", " ‹"),
                "bytes": "20f09f",
            },
            {"position": 2, "id": 97, "text": "‹A4›", "bytes": "a4"},
            {"position": 3, "id": 245, "text": "‹97›", "bytes": "97"},
        ]
    }


def test_tokens_of_the_reference_texts(shell: Shell, figures: dict) -> None:
    for text, ids in figures["tokens"].items():
        assert [token["id"] for token in shell.json("tokens", text)["tokens"]] == ids


def test_tokens_can_be_read_by_a_person(shell: Shell) -> None:
    assert shell.succeeds("tokens", "a b").split() == ["0", "64", "'a'", "61", "1", "275", "'", "b'", "20", "62"]


def test_no_text_is_no_tokens(shell: Shell) -> None:
    assert shell.json("tokens", "") == {"tokens": []}


# --- trace -----------------------------------------------------------------------------------------------


def test_a_trace_has_model_tokens_stages_ranking_and_checks(shell: Shell) -> None:
    trace = shell.json("trace", HELLO, *TINY)

    assert set(trace) == {"model", "tokens", "stages", "top", "checks"}
    assert trace["model"]["config"] == "tiny"
    assert (trace["model"]["seed"], trace["model"]["emb_dim"], trace["model"]["trained"]) == (123, 32, False)
    assert [token["id"] for token in trace["tokens"]] == [15496, 11, 314, 716]
    assert len(trace["top"]) == 10


def test_a_traces_stages_are_those_of_the_catalogue(shell: Shell) -> None:
    from gptviz.capture import catalogue
    from gptviz.model import TINY as CONFIG

    stages = shell.json("trace", HELLO, *TINY)["stages"]

    assert [(stage["index"], stage["name"]) for stage in stages] == [(s.index, s.name) for s in catalogue(CONFIG)]
    assert [tuple(stage["output_shape"]) for stage in stages] == [s.shape(CONFIG, 1, 4) for s in catalogue(CONFIG)]
    assert sum(stage["parameters"] for stage in stages) == 50257 * 32 * 2 + 64 * 32 + 2 * 12_608 + 64
    assert all(stage["ms"] >= 0 for stage in stages)


def test_a_traces_checks_hold_and_are_named(shell: Shell) -> None:
    checks = shell.json("trace", HELLO, *TINY)["checks"]

    assert len(checks) >= 8
    assert [check for check in checks if check["ok"] is not True] == []
    assert all(check["name"] and check["max_error"] >= 0 for check in checks)


def test_several_texts_are_one_batch(shell: Shell) -> None:
    trace = shell.json("trace", "Every effort moves you", "Every day holds a", *TINY)

    assert trace["stages"][0]["output_shape"] == [2, 4]
    assert [token["row"] for token in trace["tokens"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [entry["row"] for entry in trace["top"]] == [0] * 10 + [1] * 10


def test_a_trace_can_be_read_by_a_person(shell: Shell) -> None:
    lines = shell.succeeds("trace", HELLO, *TINY).splitlines()

    assert lines[0].split()[:2] == ["0", "ids"]
    assert "(1, 4) → (1, 4)" in lines[0]
    assert lines[-1].startswith("ok ")
    assert len(lines) > 55 + 10


def test_the_seed_decides_the_numbers(shell: Shell) -> None:
    top = [shell.json("trace", HELLO, *TINY, "--seed", seed)["top"] for seed in ("123", "123", "7")]

    assert top[0] == top[1] != top[2]


@pytest.mark.large
def test_the_default_models_trace_has_the_reference_figures(shell: Shell, figures: dict) -> None:
    reference = figures["untrained_124m_seed_123"]

    trace = shell.json("trace", HELLO)

    assert [token["id"] for token in trace["tokens"]] == reference["ids"]
    assert trace["stages"][-3]["name"] == "out_head"
    assert trace["stages"][-3]["output_shape"] == reference["logits_shape"]
    for found, printed in zip(trace["top"], reference["last_position_top10"], strict=True):
        assert (found["id"], found["text"]) == (printed["id"], printed["text"])
        assert found["logit"] == pytest.approx(printed["logit"], abs=1e-4)
        assert found["probability"] == pytest.approx(printed["probability"], rel=1e-3)
    assert [check["name"] for check in trace["checks"] if not check["ok"]] == []


# --- generate --------------------------------------------------------------------------------------------


def test_generate_appends_the_likeliest_tokens(shell: Shell) -> None:
    made = shell.json("generate", HELLO, "--max-new-tokens", "3", *TINY)

    assert made["prompt_ids"] == [15496, 11, 314, 716]
    assert made["ids"] == made["prompt_ids"] + [step["id"] for step in made["steps"]]
    assert made["text"].startswith(HELLO)
    assert made["text"].endswith("".join(step["text"] for step in made["steps"]))
    assert [step["context_tokens"] for step in made["steps"]] == [4, 5, 6]
    for step in made["steps"]:
        assert len(step["top"]) == 10
        assert step["top"][0] == {name: step[name] for name in ("id", "text", "logit", "probability")}
        assert step["logit"] == max(entry["logit"] for entry in step["top"])


def test_generate_sees_no_more_than_the_context(shell: Shell) -> None:
    made = shell.json("generate", " the" * 70, "--max-new-tokens", "2", *TINY)

    assert [step["context_tokens"] for step in made["steps"]] == [64, 64]


def test_generating_nothing_gives_the_prompt_back_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("generate", HELLO, "--max-new-tokens", "0", "--json", *TINY)) == 0

    printed = capsys.readouterr()
    made = json.loads(printed.out)
    assert printed.err == "gptviz: --max-new-tokens is 0, so nothing is generated\n"
    assert (made["ids"], made["text"], made["steps"]) == ([15496, 11, 314, 716], HELLO, [])


def test_generated_tokens_can_be_read_by_a_person(shell: Shell) -> None:
    lines = shell.succeeds("generate", HELLO, "--max-new-tokens", "2", *TINY).splitlines()

    assert len(lines) == 3
    assert " % " in lines[0]
    assert lines[2].startswith(HELLO)


@pytest.mark.large
def test_the_default_model_generates_the_reference_tokens(shell: Shell, figures: dict) -> None:
    reference = figures["untrained_124m_seed_123"]

    made = shell.json("generate", HELLO, "--max-new-tokens", "10")

    assert made["ids"] == reference["greedy_10_ids"]
    assert made["text"] == reference["greedy_10_text"]


# --- where-from ------------------------------------------------------------------------------------------


def test_a_value_of_the_stream_is_told_apart(shell: Shell) -> None:
    stage = "trf_blocks.0.shortcut2"
    told = shell.json("where-from", HELLO, "--stage", stage, "--index", "0,2,17", *TINY)

    assert told["question"] == {"kind": "stream", "position": 2, "stage": stage, "feature": 17}
    assert [(part["kind"], part["block"]) for part in told["parts"]] == [
        ("token embedding", None),
        ("position embedding", None),
        ("attention", 0),
        ("feed-forward", 0),
    ]
    assert sum(part["value"] for part in told["parts"]) == pytest.approx(told["value"], abs=1e-6)
    heads = told["parts"][2]["parts"]
    assert [(part["kind"], part["head"]) for part in heads] == [("head", 0), ("head", 1), ("bias", None)]
    assert sum(part["value"] for part in heads) == pytest.approx(told["parts"][2]["value"], abs=1e-6)
    assert told["ok"] is True
    assert told["frozen_deviation"] is None


def test_the_logit_that_is_told_apart_is_the_one_that_a_trace_lists(shell: Shell) -> None:
    best = shell.json("trace", HELLO, *TINY)["top"][0]

    told = shell.json("where-from", HELLO, "--logit", str(best["id"]), *TINY)

    assert told["value"] == pytest.approx(best["logit"], abs=1e-6)
    assert told["question"] == {
        "kind": "logit",
        "position": 3,
        "token": {"id": best["id"], "text": best["text"]},
    }
    assert sum(part["value"] for part in told["parts"]) == pytest.approx(best["logit"], abs=1e-5)
    assert told["frozen_deviation"] > 0


def test_a_token_may_be_named_by_its_text_and_compared_with_another(shell: Shell) -> None:
    told = shell.json("where-from", HELLO, "--logit", " the", "--minus", '"5"', "--index=0,-2", *TINY)
    one, other = (shell.json("where-from", HELLO, "--logit", token, "--index", "0,2", *TINY) for token in ("262", "20"))

    assert told["question"]["kind"] == "lead"
    assert (told["question"]["token"]["id"], told["question"]["minus"]["id"]) == (262, 20)
    assert told["question"]["position"] == 2
    assert told["value"] == pytest.approx(one["value"] - other["value"], abs=1e-6)


def test_where_a_number_comes_from_can_be_read_by_a_person(shell: Shell) -> None:
    lines = shell.succeeds("where-from", HELLO, "--logit", " the", *TINY).splitlines()

    assert lines[0].split()[1:] == ["token", "embedding", "tok_emb"]
    assert any(line.split()[1:] == ["head", "2", "trf_blocks.1.att.context"] for line in lines)
    assert "captured" in lines[-2]
    assert lines[-2].endswith(", ok")
    assert lines[-1].startswith("LayerNorm's scale is frozen")


# --- params ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", ["gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl"])
def test_parameters_are_counted_for_every_size(shell: Shell, figures: dict, config: str) -> None:
    counted = shell.json("params", "--config", config)

    assert counted["total"] == figures["sizes"][config]["untied"]
    assert counted["total_tied"] == figures["sizes"][config]["tied"]
    assert sum(part["parameters"] for part in counted["components"]) == counted["total"]


def test_the_components_are_the_references(shell: Shell, figures: dict) -> None:
    components = {part["name"]: part["parameters"] for part in shell.json("params")["components"]}

    reference = figures["parameters_124m"]
    assert components == {name: count for name, count in reference.items() if not name.startswith("total")}


def test_parameters_can_be_read_by_a_person(shell: Shell) -> None:
    lines = dict(line.split() for line in shell.succeeds("params").splitlines())

    assert (lines["tok_emb"], lines["total"], lines["tied"]) == ("38,597,376", "163,009,536", "124,412,160")


# --- what is wrong is said in one line -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("trace", "a", "--config", "gpt9"), "argument --config: invalid choice: 'gpt9'"),
        (("trace", "", *TINY), "the text is empty: give at least one character"),
        (("generate", "", "--max-new-tokens", "1", *TINY), "the text is empty: give at least one character"),
        (("trace", " the" * 65, *TINY), "65 tokens are more than the model's context of 64: shorten the text"),
        (
            ("trace", "one", "one two", "one two three", *TINY),
            "the texts of a batch need equal numbers of tokens, but these have 1, 2 and 3",
        ),
        (("generate", "a", "--max-new-tokens", "-1", *TINY), "--max-new-tokens must be at least 0, but is -1"),
        (
            ("generate", "a", "--max-new-tokens", "many"),
            "argument --max-new-tokens: 'many' is no whole number",
        ),
        (("generate", "a"), "the following arguments are required: --max-new-tokens"),
        (("trace",), "the following arguments are required: TEXT"),
        (("where-from", "a", *TINY), "one of the arguments --stage --logit is required"),
        (("where-from", "a", "--logit", "50257", *TINY), "50257 is no token: IDs go from 0 to 50,256"),
        (("where-from", "a", "--logit", "hello there", *TINY), "“hello there” is 2 tokens: give one token"),
        (("where-from", "a", "--logit", "", *TINY), "“” is no token: give one token"),
        (("where-from", "a", "--logit", "5", "--minus", "5", *TINY), "name the same token, 5: give two"),
        (("where-from", "a", "--logit", "5", "--index", "0,1", *TINY), "there is no token 1: they go from 0 to 0"),
        (("where-from", "a", "--logit", "5", "--index", "0", *TINY), "--index 0 does not fit: give sequence and token"),
        (
            ("where-from", "a", "--stage", "trf_blocks.0.norm1", "--index", "0,0,0", *TINY),
            "'trf_blocks.0.norm1' is no stage of the residual stream: choose embeddings, drop_emb, ",
        ),
        (("where-from", "a", "--stage", "embeddings", *TINY), "--index is missing: give sequence, token and feature"),
        (
            ("where-from", "a", "--stage", "embeddings", "--index", "0,0,32", *TINY),
            "there is no feature 32: they go from 0 to 31",
        ),
        (
            ("where-from", "a", "--stage", "embeddings", "--index", "1,0,0", *TINY),
            "there is no sequence 1: they go from 0 to 0",
        ),
        (
            ("where-from", "a", "--stage", "embeddings", "--index", "0,0,0", "--minus", "5", *TINY),
            "--minus is a token to compare a logit with: give --logit too",
        ),
        (("trace", "a", "--seed", "-1"), "argument --seed: -1 is not between 0 and 2^63 - 1"),
        (("trace", "a", "--seed", str(2**63)), f"argument --seed: {2**63} is not between 0 and 2^63 - 1"),
        (("trace", "a", "--seed", "x"), "argument --seed: 'x' is no whole number"),
        (("trace", "a", "--nonsense"), "unrecognized arguments: --nonsense"),
        (("tokens", "a", "b"), "unrecognized arguments: b"),
        (("shot", "out.jpg"), "out.jpg must end in .png"),
        (("shot", "/no/such/folder/out.png"), "there is no folder /no/such/folder: make it first"),
        (("shot", "out.png", "--size", "100"), "argument --size: '100' is no size such as 1440x900"),
        (("shot", "out.png", "--size", "axb"), "argument --size: 'axb' is no size such as 1440x900"),
        (("shot", "out.png", "--size", "199x900"), "argument --size: 199x900: width and height go from 200 to 8192"),
        (("shot", "out.png", "--size", "9000x900"), "argument --size: 9000x900: width and height go from 200 to 8192"),
        (("shot", "out.png", "--theme", "pink"), "argument --theme: invalid choice: 'pink'"),
        (("one text", "another"), "unrecognized arguments: another"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_change(shell: Shell, words: tuple[str, ...], reason: str) -> None:
    line = shell.fails(*words)

    assert line.startswith("gptviz: ")
    assert reason in line


def test_without_a_display_the_window_names_the_shot() -> None:
    done = run(HELLO)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "no display" in done.stderr
    assert "gptviz shot" in done.stderr


def test_an_error_in_a_process_of_its_own_is_one_line_too() -> None:
    done = run("trace", "one", "one two", *TINY)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("gptviz: the texts of a batch need equal numbers of tokens, but these have 1 and 2\n")


# --- help ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--help",), ("trace", "--help"), ("shot", "--help"), ("--version",)])
def test_help_imports_neither_torch_nor_qt(words: tuple[str, ...]) -> None:
    program = (
        "import sys\n"
        "from gptviz.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as done:\n"
        "    heavy = {'torch', 'PySide6', 'pyqtgraph', 'tiktoken'} & set(sys.modules)\n"
        "    sys.exit(f'imported {heavy}' if heavy else done.code)\n"
    )

    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "gptviz" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere torch brings another OpenMP")
@pytest.mark.parametrize(
    ("own", "turns"), [({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")]
)
def test_threads_wait_briefly_unless_the_person_says_how(
    monkeypatch: pytest.MonkeyPatch, own: dict[str, str], turns: str
) -> None:
    """OpenMP itself tells what it goes by."""
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)

    done = run("trace", HELLO, *TINY, "--json", OMP_DISPLAY_ENV="VERBOSE", **own)

    assert f"GOMP_SPINCOUNT = '{turns}'" in done.stderr


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["--help"])

    assert done.value.code == 0
    shown = capsys.readouterr().out
    assert [
        name for name in ("tokens", "trace", "generate", "where-from", "params", "shot") if f"{name}:" not in shown
    ] == []


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out == f"gptviz {__version__}\n"


def test_a_reader_that_stops_early_is_no_error(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m gptviz tokens '{'a b ' * 20_000}' | head -n 1"

    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:2] == ["0", "64"]
