"""Settings beside the weights in a PyTorch file: of a pickle's structure only plain values are looked at."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_LONGEST = 200  # characters of a text
_LARGEST = 2**63  # torch's own largest integer


def plain_settings(whole: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the plain values of ``whole`` and, one level down, of the dictionaries in it.

    What is no plain value is told by its kind alone: a few bytes of a pickle can describe a list that takes forever
    to be compared or written out.
    """
    return MappingProxyType(
        {
            key: MappingProxyType(_plain_values(value)) if isinstance(value, dict) else _plain(value)
            for key, value in whole.items()
            if isinstance(key, str)
        }
    )


def settings_with(key: str, rest: Mapping[str, Any], places: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Return the dictionary in ``rest`` that says ``key``: at one of ``places`` if given, or wherever it is."""
    for place in places or rest:
        settings = rest.get(place)
        if isinstance(settings, Mapping) and settings.get(key) is not None:
            return settings
    return rest if not places and rest.get(key) is not None else {}


def _plain_values(settings: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in settings.items() if isinstance(key, str)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _LARGEST):
        return value
    return value[:_LONGEST] if isinstance(value, str) else f"‹{type(value).__name__}›"
