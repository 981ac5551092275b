"""Spec files for tests: a good one, how to write and break one, and what is told of the broken ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from checker.spec import load_spec
from model.errors import SpecError, TidegaugeError, UsageError

BASE = """\
title = "A spec of the tests"
variant = "published/kip-320"
invariants = ["WeakIsr", "StrongIsr"]
reachable = ["SecondElection"]
never_enabled = ["write"]

[bounds]
replicas = 2
epochs = 2

[features]
truncation = "published-kip-101"

[expect]
WeakIsr = "holds"
StrongIsr = { violated = 9 }

[expect.counts]
distinct = 100
"""

_EXPECTATIONS = 'Write "holds", or { violated = n } if the shortest violation has n steps (at least 1).'

#: A change of `BASE` (what to replace by what), and the message for it as file `my.toml` (how it begins, if
#: that ends in a space).
MISTAKES: Mapping[str, tuple[str, str, str]] = {
    "unknown key": (
        "reachable =",
        "reacheable =",
        "my.toml:4: a spec has no key 'reacheable'. Did you mean 'reachable'?",
    ),
    "unknown table": (
        "[features]",
        "[feature]",
        "my.toml:11: a spec has no key 'feature'. Did you mean 'features'?",
    ),
    "unknown invariant": (
        '"StrongIsr"]',
        '"StrongISR"]',
        "my.toml:3: there is no invariant 'StrongISR'. Did you mean 'StrongIsr'?",
    ),
    "unknown witness": (
        "SecondElection",
        "ThirdElection",
        "my.toml:4: there is no witness 'ThirdElection'. Did you mean 'SecondElection'?",
    ),
    "unknown action": (
        '"write"',
        '"writes"',
        "my.toml:5: there is no action 'writes'. Did you mean 'write'?",
    ),
    "action of another variant": (
        '"write"',
        '"adopt_leader"',
        "my.toml:5: there is no action 'adopt_leader'. Did you mean 'become_leader'?",
    ),
    "unknown variant": (
        "kip-320",
        "kip-302",
        "my.toml:2: there is no variant 'published/kip-302'. Did you mean 'published/kip-320'?",
    ),
    "unknown feature": (
        "truncation =",
        "truncations =",
        "my.toml:12: there is no feature 'truncations'. Did you mean 'truncation'?",
    ),
    "unknown rule": (
        '"published-kip-101"',
        '"published-kip-102"',
        "my.toml:12: the feature truncation cannot be 'published-kip-102'. Did you mean 'published-kip-101'? ",
    ),
    "rules that do not go together": (
        '"published-kip-101"',
        '"kip-101"',
        "my.toml:12: the policy kip-101 looks at epoch caches. ",
    ),
    "rule of another type": (
        '"published-kip-101"',
        "101",
        "my.toml:12: the feature 'truncation' is 101. Give a string.",
    ),
    "unknown bound": (
        "epochs =",
        "epoch =",
        "my.toml:9: [bounds] has no key 'epoch'. Did you mean 'epochs'?",
    ),
    "bound of zero": (
        "epochs = 2",
        "epochs = 0",
        "my.toml:9: the bound epochs is 0. Give a number from 1 to 1000.",
    ),
    "negative bound": (
        "epochs = 2",
        "epochs = -1",
        "my.toml:9: the bound epochs is -1. Give a number from 1 to 1000.",
    ),
    "huge bound": (
        "epochs = 2",
        "epochs = 4_000_000",
        "my.toml:9: the bound epochs is 4000000. Give a number from 1 to 1000.",
    ),
    "bound of more than 64 bits": (
        "epochs = 2",
        f"epochs = 0x{'f' * 3000}",  # too long even to be written in decimals, if it had 4,300 of them
        "my.toml:9: epochs is a number of more than 64 bits.",
    ),
    "fraction as a bound": (
        "epochs = 2",
        "epochs = 2.0",
        "my.toml:9: the bound epochs is 2.0. Give a whole number.",
    ),
    "truth as a bound": (
        "epochs = 2",
        "epochs = true",
        "my.toml:9: the bound epochs is true. Give a whole number.",
    ),
    "bound without use": (
        "epochs = 2",
        "epochs = 2\ncrashes = 1",
        "my.toml:10: the rules of this spec do not look at the bound crashes. Take it out.",
    ),
    "quick bound of zero": (
        "[features]",
        "[quick]\nepochs = 0\n[features]",
        "my.toml:12: the bound epochs is 0. Give a number from 1 to 1000.",
    ),
    "no invariants": (
        'invariants = ["WeakIsr", "StrongIsr"]',
        "",
        'my.toml: invariants is missing. Write invariants = ["…"], with names of invariants.',
    ),
    "empty invariants": (
        '["WeakIsr", "StrongIsr"]',
        "[]",
        "my.toml:3: invariants is empty. Nothing would be checked. Known: LeaderInIsr, StrongIsr, WeakIsr.",
    ),
    "one invariant without a list": (
        '["WeakIsr", "StrongIsr"]',
        '"WeakIsr"',
        'my.toml:3: invariants is \'WeakIsr\'. Write a list: ["…", "…"].',
    ),
    "list of something else": (
        '"WeakIsr", "StrongIsr"',
        '"WeakIsr",\n 3',
        "my.toml:4: invariants contains 3. Give names of invariants.",
    ),
    "invariant twice": (
        '"StrongIsr"]',
        '"WeakIsr"]',
        "my.toml:3: invariants names WeakIsr twice. Take one of the two out.",
    ),
    "no title": (
        'title = "A spec of the tests"',
        "",
        'my.toml: title is missing. Write title = "…" at the top of the file.',
    ),
    "title of another type": (
        '"A spec of the tests"',
        "[1]",
        "my.toml:1: title is a list. Give a string.",
    ),
    "title of spaces": (
        "A spec of the tests",
        " ",
        "my.toml:1: title is empty.",
    ),
    "title with an escape sequence": (
        "A spec",
        "A\\u001B[31m spec",
        "my.toml:1: title has a control character, U+001B. Take it out.",
    ),
    "no variant": (
        'variant = "published/kip-320"',
        "",
        'my.toml: variant is missing. Write variant = "…" at the top of the file.',
    ),
    "value for a table": (
        '[features]\ntruncation = "published-kip-101"',
        "[[features]]",
        "my.toml:11: features is a list. Make it a table: [features].",
    ),
    "unknown invariant expected": (
        'WeakIsr = "holds"',
        'WeekIsr = "holds"',
        "my.toml:15: there is no invariant 'WeekIsr'. Did you mean 'WeakIsr'?",
    ),
    "expected but not checked": (
        'WeakIsr = "holds"',
        'LeaderInIsr = "holds"',
        "my.toml:15: LeaderInIsr is not checked by this spec. Add it to invariants.",
    ),
    "violated in no steps": (
        "violated = 9",
        "violated = 0",
        f"my.toml:16: the expectation of StrongIsr is violated in 0 steps. {_EXPECTATIONS}",
    ),
    "violated in half a step": (
        "violated = 9",
        "violated = 0.5",
        f"my.toml:16: the expectation of StrongIsr is violated in 0.5 steps. {_EXPECTATIONS}",
    ),
    "expectation of another kind": (
        '"holds"',
        '"hold"',
        f"my.toml:15: the expectation of WeakIsr is 'hold'. {_EXPECTATIONS}",
    ),
    "expectation with more keys": (
        "violated = 9",
        "violated = 9, steps = 9",
        f"my.toml:16: the expectation of StrongIsr is a table. {_EXPECTATIONS}",
    ),
    "empty expectations": (
        BASE[BASE.index("WeakIsr = ") :],
        "",
        "my.toml:14: [expect] is empty. A spec that expects nothing cannot fail. Fill it or drop it.",
    ),
    "unknown count": (
        "distinct",
        "distict",
        "my.toml:19: [expect.counts] has no key 'distict'. Did you mean 'distinct'?",
    ),
    "count of another type": (
        "distinct = 100",
        'distinct = "100"',
        "my.toml:19: distinct is '100'. Give a whole number, at least 1.",
    ),
    "no counts": (
        "distinct = 100",
        "",
        "my.toml:18: [expect.counts] is empty. Give some of distinct, orbits, depth, generated, or drop it.",
    ),
}


def written(text: str | bytes, name: str = "my.toml") -> Path:
    """Write a file into the working directory, byte for byte."""
    path = Path(name)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def broken(mistake: str) -> str:
    """`BASE` with one of the mistakes."""
    old, new, _ = MISTAKES[mistake]
    assert old in BASE, f"the base has no {old!r}"
    return BASE.replace(old, new, 1)


def message(spec: str | Path) -> str:
    """What a user is told of a spec that does not load."""
    with pytest.raises(TidegaugeError) as caught:
        load_spec(spec)
    assert isinstance(caught.value, SpecError | UsageError)
    assert caught.value.exit_code == 2
    return str(caught.value)
