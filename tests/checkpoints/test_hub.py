"""Models by name, from a server on the loopback address, and from the cache."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from checkpoint_writers import SMALL, hugging_face, logits, random_model, script
from hub_server import HubServer, serving
from test_hugging_face_checkpoint import sharded

from gptviz.checkpoints import CheckpointError, load
from gptviz.checkpoints.hub import download, repository

pytest.importorskip("huggingface_hub", reason="pip install -e '.[hub]'")

MODEL = random_model(replace(SMALL, vocab_size=20_000))  # two megabytes: several chunks
NAME = "someone/their-gpt2"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    with serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr("gptviz.checkpoints.hub._CHUNK", 2**17)
        for path in hugging_face(tmp_path / "published", MODEL).iterdir():
            server.files[f"{NAME}/{path.name}"] = path.read_bytes()
        yield server


def fetch(name: str = NAME) -> tuple[Path, list[tuple[str, float | None]]]:
    told: list[tuple[str, float | None]] = []
    return download(name, lambda text, share: told.append((text, share))), told


def test_a_model_is_fetched_by_its_name_and_opens_with_the_same_logits(hub: HubServer) -> None:
    folder, _ = fetch()

    checkpoint = load(folder)

    assert torch.equal(logits(checkpoint.model), logits(MODEL))
    assert checkpoint.name == NAME


def test_a_vocabulary_of_its_own_comes_with_it(hub: HubServer) -> None:
    hub.files[f"{NAME}/vocab.json"] = json.dumps({"der": 0, "die": 1}).encode()

    folder, _ = fetch()

    assert (folder / "vocab.json").is_file()


def test_progress_is_told_in_megabytes_and_as_a_share(hub: HubServer) -> None:
    _, told = fetch()

    shares = [share for text, share in told if text.startswith("Downloading model.safetensors")]
    assert told[0] == (f"Asking the Hub for {NAME}", None)
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert any(text.endswith("of 1.9 MB") for text, _ in told)


def test_what_is_in_the_cache_is_not_fetched_again(hub: HubServer) -> None:
    fetch()
    hub.asked.clear()

    fetch()

    assert hub.asked == []


def test_huggingface_hub_finds_in_its_cache_what_was_fetched(hub: HubServer, tmp_path: Path) -> None:
    from huggingface_hub import try_to_load_from_cache

    folder, _ = fetch()

    found = try_to_load_from_cache(NAME, "model.safetensors", cache_dir=tmp_path / "cache")
    assert found == str(folder / "model.safetensors")


def test_a_download_that_was_stopped_is_taken_up_where_it_was(hub: HubServer) -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def stop_at_half(text: str, share: float | None) -> None:
        if share is not None and share > 0.5:
            raise Stop

    with pytest.raises(Stop):
        download(NAME, stop_at_half)
    hub.asked.clear()
    folder, _ = fetch()

    assert torch.equal(logits(load(folder).model), logits(MODEL))
    (asked,) = hub.asked
    assert int(asked.removeprefix("model.safetensors from ")) > 400_000


def test_a_connection_that_is_lost_is_told_and_taken_up_the_next_time(hub: HubServer) -> None:
    hub.stop_after = 300_000
    with pytest.raises(CheckpointError, match="what was downloaded is kept"):
        fetch()
    hub.stop_after = None
    hub.asked.clear()

    folder, _ = fetch()

    assert hub.asked == ["model.safetensors from 262144"]
    assert torch.equal(logits(load(folder).model), logits(MODEL))


def test_without_a_connection_the_cache_is_used(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = fetch()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    assert fetch()[0] == folder


def test_without_a_connection_and_a_cache_it_says_both(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(CheckpointError, match=r"the Hub can't be reached .* is not in the cache"):
        fetch()


def test_shards_are_fetched_all(hub: HubServer, tmp_path: Path) -> None:
    model = random_model(SMALL)
    for path in sharded(tmp_path / "shards", script.hugging_face_tensors(model)).iterdir():
        hub.files[f"owner/sharded/{path.name}"] = path.read_bytes()

    assert torch.equal(logits(load(fetch("owner/sharded")[0]).model), logits(model))


def test_a_file_that_arrives_changed_is_not_kept(hub: HubServer) -> None:
    fetch()
    hub.files["a/b/config.json"] = b"{}"
    hub.files["a/b/model.safetensors"] = b"x" * 1000
    hub.corrupt = True

    with pytest.raises(CheckpointError, match="did not arrive as it was sent"):
        fetch("a/b")


def test_a_model_that_does_not_exist_says_so(hub: HubServer) -> None:
    with pytest.raises(CheckpointError, match="there is no model nobody/nothing on the Hub"):
        fetch("nobody/nothing")


def test_a_repository_without_weights_for_pytorch_says_so(hub: HubServer) -> None:
    hub.files["tf/only/config.json"] = json.dumps({"model_type": "gpt2"}).encode()

    with pytest.raises(CheckpointError, match=r"tf/only has neither model\.safetensors nor pytorch_model\.bin"):
        fetch("tf/only")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("openai-community/gpt2", "openai-community/gpt2"),
        (" distilbert/distilgpt2/ ", "distilbert/distilgpt2"),
        ("gpt2", "gpt2"),
        ("https://huggingface.co/openai-community/gpt2/tree/main", "openai-community/gpt2"),
    ],
)
def test_a_name_or_the_address_of_a_page_is_a_repository(text: str, name: str) -> None:
    assert repository(text) == name


@pytest.mark.parametrize("text", ["", "a/b/c", "../x", "a b", "a/..", "-x/y", "a--b/c", "é/x", "x" * 200])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(CheckpointError, match="is no name of a model on the Hub"):
        repository(text)
