"""A server on the loopback address that answers as the Hugging Face Hub does when files are asked for."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubServer(ThreadingHTTPServer):
    """``files`` are contents by "owner/name/file"; ``stop_after`` cuts an answer off; ``asked`` is what was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.stop_after: int | None = None
        self.corrupt = False
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        repository, _, file = self.path.lstrip("/").partition("/resolve/main/")
        name = f"{repository}/{file}"
        content = self.server.files.get(name)
        if content is None:
            known = any(other.startswith(f"{repository}/") for other in self.server.files)
            self._send(404, {"X-Error-Code": "EntryNotFound" if known else "RepoNotFound"})
            return
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        if body:
            self.server.asked.append(f"{file} from {start}")
        large = not file.endswith(".json")
        digest = hashlib.sha256(content) if large else hashlib.sha1(b"blob %d\0" % len(content) + content)
        headers = {"ETag": f'"{digest.hexdigest()}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if large:
            headers |= {"X-Linked-ETag": f'"{digest.hexdigest()}"', "X-Linked-Size": str(len(content))}
        self._send(206 if start else 200, headers, content[start:], body)

    def _send(self, status: int, headers: dict[str, str], content: bytes = b"", body: bool = False) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if not body:
            return
        if self.server.corrupt:
            content = bytes(len(content))
        if self.server.stop_after is not None and len(content) > self.server.stop_after:
            self.wfile.write(content[: self.server.stop_after])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
            return
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[HubServer]:
    server = HubServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
