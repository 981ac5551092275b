"""Specs as TOML: the text from which one would be loaded again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checker.own_invariants import OWN_INVARIANTS
from checker.own_origin import PROTOCOL
from checker.spec import VIOLATED, Spec
from checker.spec_file import EXPECT, INVARIANTS


def spec_text(spec: Spec, title: str, violated: Mapping[str, int]) -> str:
    """A spec that stands for itself: its protocol, the bounds that matter, its invariants, and the steps in which some
    of them are expected to be violated. Files of the user's own are named as the spec names them."""
    return "\n".join(_lines(spec, title, violated)) + "\n"


def _lines(spec: Spec, title: str, violated: Mapping[str, int]) -> Iterator[str]:
    document = spec.model_document()
    yield _line("title", title)
    yield _line("protocol", document[PROTOCOL]) if PROTOCOL in document else _line("variant", spec.variant_name)
    if OWN_INVARIANTS in document:
        yield _line(OWN_INVARIANTS, document[OWN_INVARIANTS])
    yield _line(INVARIANTS, list(spec.invariants))
    yield from _table("bounds", spec.used_bounds())
    yield from _table("features", spec.features)
    yield from _table(EXPECT, {name: {VIOLATED: steps} for name, steps in violated.items()})


def _table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    if values:
        yield ""
        yield f"[{name}]"
        yield from (_line(key, value) for key, value in values.items())


def _line(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: Any) -> str:
    """JSON writes strings, numbers and lists as TOML does."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_line(key, part) for key, part in value.items())} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
