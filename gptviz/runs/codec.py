"""JSON to frozen dataclasses and back, by the types of their fields: what does not fit is refused by name."""

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from gptviz.analysis.candidates import Candidate
from gptviz.model.config import GPTConfig

_LARGEST = 2**63
_NAMES = {"Candidate": Candidate, "GPTConfig": GPTConfig}  # that modules know for annotations alone
_ENDLESS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # which JSON lacks


class CodecError(ValueError):
    """A value is not what its place asks for; the message names the place."""


def encode(value: Any) -> Any:
    """Return ``value`` as JSON has it: dataclasses as objects, tuples and sets as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): encode(part) for key, part in value.items()}
    if isinstance(value, frozenset):
        return sorted(encode(part) for part in value)
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a run file")


def decode(kind: Any, value: Any, where: str) -> Any:
    """Return the value of type ``kind`` that JSON ``value`` stands for.

    Raises
    ------
    CodecError
        If it stands for none, or the type itself refuses it.
    """
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return _object(kind, value, where)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _one_of(get_args(kind), value, where)
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    if origin is frozenset:
        return frozenset(_tuple((*get_args(kind), ...), value, where))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise CodecError(f"{where} is no object")
        of = get_args(kind)[1]
        return MappingProxyType({key: decode(of, part, f"{where}.{key}") for key, part in value.items()})
    return _scalar(kind, value, where)


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, str) and value in _ENDLESS:
        return _ENDLESS[value]
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return float(value)
    fits = type(value) is kind and (kind is not int or -_LARGEST <= value < _LARGEST)
    if kind not in (bool, int, float, str, NoneType) or not fits:
        raise CodecError(f"{where} is no {'value' if kind is NoneType else kind.__name__}")
    if kind is str and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves of a character
    return value


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise CodecError(f"{where} is no list")
    if kinds[-1] is ...:
        if kinds[0] is float and all(type(part) is float for part in value):
            return tuple(value)  # the common case, quickly
        return tuple(decode(kinds[0], part, f"{where}[{place}]") for place, part in enumerate(value))
    if len(value) != len(kinds):
        raise CodecError(f"{where} has {len(value)} parts instead of {len(kinds)}")
    return tuple(
        decode(kind, part, f"{where}[{place}]") for place, (kind, part) in enumerate(zip(kinds, value, strict=True))
    )


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    problem = None
    for kind in kinds:
        try:
            return decode(kind, value, where)
        except CodecError as error:
            problem = error if problem is None or kind is not NoneType else problem
    assert problem is not None
    raise problem


def _object(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise CodecError(f"{where} is no object")
    hints = _hints(kind)
    optional = {field.name for field in dataclasses.fields(kind) if field.default is not dataclasses.MISSING}
    missing, unknown = sorted(set(hints) - set(value) - optional), sorted(set(value) - set(hints))
    if missing or unknown:  # what has a default may come to a dataclass later, and older files lack it
        what = f"lacks {missing[0]}" if missing else f"has {unknown[0][:40]!r}, which nobody knows"
        raise CodecError(f"{where} {what}")
    parts = {name: decode(hints[name], part, f"{where}.{name}") for name, part in value.items()}
    try:
        return kind(**parts)
    except (ValueError, TypeError) as error:
        raise CodecError(f"{where} makes no sense: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    found = get_type_hints(kind, localns=_NAMES)
    return {field.name: found[field.name] for field in dataclasses.fields(kind)}
