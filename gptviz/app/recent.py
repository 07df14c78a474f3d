"""The checkpoints that were opened last."""

import json
from dataclasses import asdict

from gptviz.app.settings import Settings
from gptviz.session.requests import CheckpointRequest

_MOST = 8


class Recent:
    """The newest first; remembered if there are settings."""

    def __init__(self, settings: Settings | None) -> None:
        self._settings = settings
        self.requests = () if settings is None else _read(settings.recent)

    def add(self, request: CheckpointRequest) -> None:
        """Put a checkpoint to the top, and what was answered about it."""
        others = (other for other in self.requests if other.path != request.path)
        self._keep((request, *others)[:_MOST])

    def forget(self) -> None:
        """Empty the list."""
        self._keep(())

    def _keep(self, requests: tuple[CheckpointRequest, ...]) -> None:
        self.requests = requests
        if self._settings is not None:
            self._settings.recent = json.dumps([asdict(request) for request in requests])


def _read(text: str) -> tuple[CheckpointRequest, ...]:
    """Read what was remembered; another version may have written it."""
    try:
        return tuple(CheckpointRequest(**entry) for entry in json.loads(text))[:_MOST]
    except (ValueError, TypeError):
        return ()
