"""Every shipped spec finds what it expects, with exactly the counts it gives; and the specs of the crash model tell one
story: a bug differs in one rule from what repairs it, and the README's tables say what the specs say.
"""

from __future__ import annotations

import re

import pytest

from checker.data import EXAMPLES, reading_order, shipped_specs, specs_folder
from checker.outcome import Outcome
from checker.run import Options, check
from checker.spec import Expectation, Spec, load_spec
from model.kafka import NAMED_VARIANTS

SPECS = {name: load_spec(name) for name in shipped_specs()}
SHIPPED = list(SPECS)
SLOW = [name for name in SHIPPED if name.startswith("slow/")]
QUICK = [name for name in SHIPPED if name not in SLOW]
BROKERS = [name for name in SHIPPED if name.startswith("brokers/")]

#: More states than this are only searched with symmetry.
MOST_STATES = 300_000

#: By contract, not by a bug: they fall, and nothing repairs them.
BY_CONTRACT = ("brokers/acks-1", "brokers/unclean-election")

#: Two rules each. Nobody can lose eligibility where there is none; and flushing is a rule of its own.
TWO_RULES = ("brokers/kip-966-broken", "brokers/kafka-1120-flushed-broken")

#: A row of the README: name, file, what it teaches, the rules of, first promise to fall, states.
ROW = re.compile(
    r"^\| \[`([\w-]+)`\]\((brokers/[\w-]+\.toml)\) \| [^|]+ \| ([^|]*) \| ([^|]+) \| ([\d,]+) \|$", re.MULTILINE
)


def small(name: str) -> bool:
    counts = SPECS[name].counts
    return counts is not None and (counts.distinct or 0) <= MOST_STATES


def individuals(spec: Spec) -> int:
    """How many replicas there are; or clients, or managers: the first bound of every shipped spec."""
    return next(iter(spec.all_bounds().values()))


def base_of(spec: Spec) -> Spec:
    """The spec that this one extends."""
    return next(base for base in SPECS.values() if base.path == spec.files[1])


def extending(ending: str = "") -> list[Spec]:
    """The specs of the crash model that change a rule of another one."""
    specs = [SPECS[name] for name in BROKERS if name.endswith(ending)]
    extended = [spec for spec in specs if len(spec.files) > 1]
    same = [spec for spec in extended if spec.variant_name == base_of(spec).variant_name]
    return [spec for spec in same if changed_rules(spec)]


def changed_rules(spec: Spec) -> dict[str, str]:
    """The rules in which a spec differs from the one that it extends."""
    before = base_of(spec).all_features()
    return {rule: choice for rule, choice in spec.all_features().items() if choice != before[rule]}


def falls(spec: Spec) -> bool:
    return any(expected.steps for expected in spec.expect.values())


def judged(outcome: Outcome) -> dict[str, Expectation]:
    return {found.name: Expectation(found.steps) for found in outcome.invariants}


def assert_as_expected(spec: Spec, outcome: Outcome) -> None:
    """Verdicts, steps, witnesses, and exactly the actions that the spec says are never enabled."""
    assert outcome.explored.complete
    assert judged(outcome) == spec.expect
    assert [name for name, steps in outcome.witnesses.items() if steps is None] == []
    assert outcome.never_enabled == ()
    assert {outcome.explored.steps_taken[action] for action in spec.never_enabled} <= {0}


# What each spec finds


def check_with_symmetry(name: str) -> None:
    spec = SPECS[name]
    outcome = check(spec)
    assert_as_expected(spec, outcome)
    assert spec.counts is not None
    assert (outcome.symmetry.group, outcome.symmetry.proved) == (f"Sym({individuals(spec)})", True)
    assert (outcome.explored.distinct, outcome.explored.depth) == (spec.counts.orbits, spec.counts.depth)


@pytest.mark.parametrize("name", QUICK)
def test_a_spec_finds_what_it_expects(name: str) -> None:
    check_with_symmetry(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_larger_spec_finds_what_it_expects(name: str) -> None:
    check_with_symmetry(name)


@pytest.mark.parametrize("name", [name for name in QUICK if small(name)])
def test_a_spec_finds_the_same_without_symmetry(name: str) -> None:
    spec = SPECS[name]
    outcome = check(spec, Options(symmetry="off"))
    assert_as_expected(spec, outcome)
    assert spec.counts is not None
    found = outcome.explored
    expected = (spec.counts.distinct, spec.counts.depth, spec.counts.generated)
    assert (found.distinct, found.depth, found.generated) == expected


# Bugs and repairs


@pytest.mark.parametrize("spec", extending("-broken"), ids=lambda spec: spec.name)
def test_the_repair_holds_where_the_bug_shows(spec: Spec) -> None:
    """With the rules of the spec that is extended, everything promised holds at the bounds of the bug."""
    repaired = base_of(spec).changed(bounds=spec.all_bounds())
    outcome = check(repaired)
    assert outcome.explored.complete
    assert set(judged(outcome).values()) == {Expectation()}


@pytest.mark.parametrize("spec", extending(), ids=lambda spec: spec.name)
def test_one_rule_makes_the_difference(spec: Spec) -> None:
    assert len(changed_rules(spec)) == (2 if spec.name in TWO_RULES else 1)


@pytest.mark.parametrize("name", BROKERS)
def test_a_name_says_what_is_expected(name: str) -> None:
    spec = SPECS[name]
    if name.endswith(("-broken", "-unfenced")) or name in (*BY_CONTRACT, "brokers/no-truncation"):
        assert falls(spec)
    else:
        assert not falls(spec)


def test_every_bug_extends_what_repairs_it() -> None:
    assert [spec.name for spec in extending("-broken")] == [name for name in BROKERS if name.endswith("-broken")]
    assert [spec.name for spec in extending() if falls(base_of(spec))] == []


def test_every_larger_spec_extends_one_that_holds() -> None:
    for name in SLOW:
        spec = SPECS[name]
        assert not falls(spec)
        assert not falls(base_of(spec))


def test_every_variant_has_a_spec() -> None:
    assert {spec.variant_name for name, spec in SPECS.items() if not name.startswith(EXAMPLES)} == set(NAMED_VARIANTS)


# The README


def told(spec: Spec) -> tuple[str, str, str, str, str]:
    """The columns of a spec's row that are facts."""
    rules = "" if spec not in extending() else told_rules(spec)
    falling = next((name for name in spec.invariants if spec.expect[name].steps), None)
    outcome = f"`{falling}`, {spec.expect[falling].steps} steps" if falling else "holds"
    assert spec.counts is not None
    short = spec.name.removeprefix("brokers/")
    return short, f"{spec.name}.toml", rules, outcome, f"{spec.counts.distinct:,}"


def told_rules(spec: Spec) -> str:
    rules = " and ".join(f"`{rule}={choice}`" for rule, choice in changed_rules(spec).items())
    return f"`{base_of(spec).name.removeprefix('brokers/')}` with {rules}"


def test_the_readme_tells_every_spec_of_the_crash_model() -> None:
    rows = ROW.findall((specs_folder() / "README.md").read_text(encoding="utf-8"))
    assert sorted(rows) == sorted(told(SPECS[name]) for name in BROKERS)


def test_overviews_keep_to_the_order_of_the_readme() -> None:
    text = (specs_folder() / "README.md").read_text(encoding="utf-8")
    found, title = {}, ""
    for heading, name in re.findall(
        r"^##+ (?:\d+\. )?([^\n]+)$|^\| \[`[^`]+`\]\(([\w/-]+)\.toml\)", text, re.MULTILINE
    ):
        title = heading.removesuffix(", in reading order") or title
        if name:
            found[name] = title
    assert list(reading_order().items()) == list(found.items())
    assert set(found) == {name for name in SPECS if not name.startswith("slow/")}


@pytest.mark.parametrize("spec", extending(), ids=lambda spec: spec.name)
def test_reports_say_what_a_spec_changes_of_another(spec: Spec) -> None:
    assert spec.built_on == base_of(spec).name
    assert spec.own_features == changed_rules(spec)
    assert spec.changed_features == {}
    changed = spec.changed(features={"truncation": "none"})
    assert changed.changed_features == {"truncation": "none"}
    assert changed.own_features == {**changed_rules(spec), "truncation": "none"}
