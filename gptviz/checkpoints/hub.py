"""Models of the Hugging Face Hub, by name: fetched into huggingface_hub's own cache, or taken from it."""

import hashlib
import importlib
import importlib.util
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gptviz.checkpoints.errors import CheckpointError
from gptviz.checkpoints.files import CONFIG, INDEX, WHOLE, find, read_json

OnProgress = Callable[[str, float | None], None]
_NAME = re.compile(r"[\w][\w.\-]*(/[\w][\w.\-]*)?$", re.ASCII)
_CHUNK = 2**20  # bytes
_SECONDS = 10.0
_MISSING = "huggingface_hub is not installed, and downloads need it", "Run: pip install 'gptviz[hub]'"


def available() -> bool:
    """Tell whether huggingface_hub, which is optional, is installed."""
    return importlib.util.find_spec("huggingface_hub") is not None


def repository(text: str) -> str:
    """Return the name of a model, such as ``openai-community/gpt2``, from itself or from its page's address.

    Raises
    ------
    CheckpointError
        If it is neither.
    """
    name = text.strip().rstrip("/")
    if "://" in name:
        name = "/".join(urlsplit(name).path.strip("/").split("/")[:2])
    if not _NAME.match(name) or ".." in name or "--" in name or len(name) > 96:
        raise CheckpointError(
            f"{text.strip()[:60]!r} is no name of a model on the Hub", "Write it as owner/name: openai-community/gpt2"
        )
    return name


def download(name: str, on_progress: OnProgress) -> Path:
    """Fetch the files of model ``name`` that are not in the cache yet, and return the folder with them.

    ``on_progress`` gets a text and the share that is done; an exception that it raises stops the download, which the
    next one takes up again. Without a connection, what the cache has is used.

    Raises
    ------
    CheckpointError
        If there is no such model, none that can be opened, or neither a connection nor a copy in the cache.
    """
    name = repository(name)
    if not available():
        raise CheckpointError(*_MISSING)
    # its faster protocol can neither be stopped nor taken up again; read when huggingface_hub is imported
    os.environ.setdefault("HF_HUB_DISABLE_XET", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    on_progress(f"Asking the Hub for {name}", None)
    return _Download(name, on_progress).run()


class _Download:
    """One model's files. The cache's layout is documented: blobs by their hash, and links to them by name."""

    def __init__(self, name: str, on_progress: OnProgress) -> None:
        self._hub: Any = importlib.import_module("huggingface_hub")  # optional, and slow to import
        self._name = name
        self._on_progress = on_progress
        self._endpoint = os.environ.get("HF_ENDPOINT") or self._hub.constants.ENDPOINT
        self._cache = Path(os.environ.get("HF_HUB_CACHE") or self._hub.constants.HF_HUB_CACHE)

    def run(self) -> Path:
        """Fetch what is needed; without a connection, find it in the cache."""
        try:
            return self._fetch_all()
        except _unreachable(self._hub) as error:
            return self._cached(error)
        except OSError as error:
            raise CheckpointError(f"the cache can't be written: {error.strerror or error}", "Check the disk") from error

    def _fetch_all(self) -> Path:
        config = self._fetch(CONFIG)
        if config is None:
            raise CheckpointError(f"{self._name} has no {CONFIG}, so it is no model of transformers", "Choose another")
        if self._fetch("vocab.json") is None:
            self._fetch("tokenizer.json")  # either tells whether its tokens are GPT-2's
        for whole in WHOLE:
            if self._fetch(whole) is not None:
                return config.parent
            index = self._fetch(f"{whole}{INDEX}")
            if index is not None:
                for shard in _shards(index):
                    if self._fetch(shard) is None:
                        raise CheckpointError(f"{self._name} lacks its shard {shard}", "Choose another model")
                return config.parent
        raise CheckpointError(
            f"{self._name} has neither {' nor '.join(WHOLE)}", "Choose a model with weights for PyTorch"
        )

    def _fetch(self, file: str) -> Path | None:
        """Have ``file`` in the cache and return its path; None if the model has no such file."""
        at = {"repo_id": self._name, "filename": file, "endpoint": self._endpoint}
        url = self._hub.hf_hub_url(**at)
        try:
            there = self._hub.get_hf_file_metadata(url, timeout=_SECONDS, endpoint=self._endpoint)
        except self._hub.errors.HfHubHTTPError as error:
            self._explain_unless_absent(error)
            return None
        if not (there.etag and there.commit_hash and re.fullmatch(r"[\w.\-]+", there.etag)):
            raise CheckpointError(f"the server's answer about {file} is not the Hub's", "Check HF_ENDPOINT")
        folder = self._cache / f"models--{self._name.replace('/', '--')}"
        blob = folder / "blobs" / there.etag
        if not blob.exists():
            blob.parent.mkdir(parents=True, exist_ok=True)
            self._stream(file, there, url, blob)
        # the file's contents are there: what is left to huggingface_hub is the link with its name
        return Path(self._hub.hf_hub_download(**at, cache_dir=self._cache, etag_timeout=_SECONDS))

    def _explain_unless_absent(self, error: Any) -> None:
        """Raise for everything but a file that the model does not have."""
        errors = self._hub.errors
        status = getattr(error.response, "status_code", None)
        if isinstance(error, errors.GatedRepoError):
            raise CheckpointError(
                f"{self._name} is gated", "Accept its terms on its page, log in with 'hf auth login', and try again"
            ) from error
        if isinstance(error, errors.RepositoryNotFoundError) or status == 401:
            raise CheckpointError(
                f"there is no model {self._name} on the Hub, or it is private", "Check the name: owner/name"
            ) from error
        if status != 404:
            raise CheckpointError(f"the Hub answered with the error {status}", "Try again later") from error

    def _stream(self, file: str, there: Any, url: str, blob: Path) -> None:
        """Download into a file beside ``blob``, going on where an earlier attempt stopped; check it; name it."""
        part = blob.with_name(f"{blob.name}.gptviz-part")
        have = part.stat().st_size if part.exists() else 0
        if there.size is not None:
            if have > there.size:
                have = 0
            free = shutil.disk_usage(blob.parent).free
            if there.size - have > free:
                raise CheckpointError(
                    f"{file} has {there.size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free on the disk",
                    "Make room, or set HF_HOME to another disk",
                )
        headers = self._hub.utils.build_hf_headers()
        if urlsplit(there.location).netloc != urlsplit(url).netloc:
            headers.pop("authorization", None)  # a login is the Hub's business alone
        headers |= {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        client = self._hub.utils.get_session()
        if have != there.size or not have:
            with client.stream("GET", there.location, headers=headers, follow_redirects=True) as answer:
                if answer.status_code not in (200, 206):
                    raise CheckpointError(f"the Hub answered with the error {answer.status_code}", "Try again later")
                resumed = answer.status_code == 206 and have > 0
                with part.open("ab" if resumed else "wb") as out:
                    self._copy(file, answer, out, have if resumed else 0, there.size)
        self._check(file, part, there)
        part.replace(blob)

    def _copy(self, file: str, answer: Any, out: Any, done: int, size: int | None) -> None:
        for chunk in answer.iter_bytes(_CHUNK):
            of = "" if size is None else f" of {size / 1e6:,.1f}"
            self._on_progress(f"Downloading {file}, {done / 1e6:,.1f}{of} MB", done / size if size else None)
            out.write(chunk)
            done += len(chunk)

    def _check(self, file: str, part: Path, there: Any) -> None:
        """Compare size and hash with what the Hub says: large files are named by their SHA-256."""
        wrong = there.size is not None and part.stat().st_size != there.size
        if not wrong and re.fullmatch(r"[0-9a-f]{64}", there.etag):
            self._on_progress(f"Checking {file}", None)
            with part.open("rb") as content:
                wrong = hashlib.file_digest(content, "sha256").hexdigest() != there.etag
        if wrong:
            part.unlink()
            raise CheckpointError(f"{file} did not arrive as it was sent", "Try again")

    def _cached(self, error: Exception) -> Path:
        """Return the folder that the cache has."""
        config = self._hub.try_to_load_from_cache(self._name, CONFIG, cache_dir=self._cache)
        reason = str(error).splitlines()[0][:120].rstrip(".") if str(error) else type(error).__name__
        if not isinstance(config, str):
            raise CheckpointError(
                f"the Hub can't be reached ({reason}), and {self._name} is not in the cache",
                "Check the connection, or open a checkpoint from a file",
            ) from error
        try:
            find(Path(config).parent)
        except CheckpointError as incomplete:
            raise CheckpointError(
                f"the connection to the Hub failed ({reason}), and of {self._name} only a part is in the cache",
                "Open it again when there is a connection: what was downloaded is kept",
            ) from incomplete
        return Path(config).parent


def _shards(index: Path) -> list[str]:
    """List the shards that an index names; whether the names are safe is looked at when the checkpoint is opened."""
    weight_map = read_json(index).get("weight_map")
    names = set(weight_map.values()) if isinstance(weight_map, dict) else set()
    safe = sorted(name for name in names if isinstance(name, str) and re.fullmatch(r"[\w][\w.\-]*", name))
    if not safe or len(safe) != len(names):
        raise CheckpointError(f"{index.name} names files that are no shards", "Choose another model")
    return safe


def _unreachable(hub: Any) -> tuple[type[Exception], ...]:
    """Return what is raised without a connection, by the system and by the HTTP client of huggingface_hub."""
    client = importlib.import_module(type(hub.utils.get_session()).__module__.split(".")[0])
    return ConnectionError, TimeoutError, client.TransportError
