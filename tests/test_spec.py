"""Specs: what the shipped ones say, how a file extends another, how one is changed, how large one may be."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from spec_files import BASE, message, written

from checker import data
from checker.estimate import MOST_REPLICAS, estimate
from checker.outcome import Verdict
from checker.spec import Expectation, ExpectedCounts, Spec, load_shipped, load_spec, spec_for_trace
from model.errors import Place, SpecError, TidegaugeError, TraceError, UsageError
from model.kafka import NAMED_VARIANTS, Bounds, kafka

WHAT_IT_HAS = "Its rules do not look at that bound. What it has: --replicas, --log-size, --records, --epochs."
CIRCLE = "No spec can be made of a circle. Take one of the lines out."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a directory of its own, so that messages name files without their folders."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The shipped specs


def test_the_published_specs_are_shipped_in_reading_order() -> None:
    published = [spec.name for spec in load_shipped() if spec.name.startswith("published/")]
    assert published == list(NAMED_VARIANTS)[:5]


@pytest.mark.parametrize("name", data.shipped_specs())
def test_every_shipped_spec_is_complete(name: str) -> None:
    spec = load_spec(name)
    assert spec.name == name
    assert spec.is_as_written
    assert spec.title
    assert spec.source
    assert spec.reachable, "a spec without witnesses may hold because nothing happens"
    assert set(spec.expect) == set(spec.invariants)
    assert spec.counts is not None
    assert None not in (spec.counts.distinct, spec.counts.orbits, spec.counts.depth, spec.counts.generated)


@pytest.mark.parametrize("name", data.shipped_specs())
def test_every_shipped_spec_gives_its_protocol(name: str) -> None:
    spec = load_spec(name)
    protocol = spec.protocol()
    assert (protocol.invariant_names, protocol.witness_names) == (spec.invariants, spec.reachable)


def test_expectations_are_those_of_tlc() -> None:
    spec = load_spec("kip-320")
    assert spec.bounds == Bounds(replicas=3, log_size=2, records=2, epochs=3)
    assert spec.counts == ExpectedCounts(distinct=737_794, orbits=123_311, depth=26, generated=1_929_153)
    assert set(spec.expect.values()) == {Expectation()}
    assert load_spec("kip-279").expect["WeakIsr"] == Expectation(10)
    assert load_spec("kip-101").expect["StrongIsr"] == Expectation(10)


def test_an_expectation_speaks() -> None:
    texts = {Expectation(): "holds", Expectation(1): "violated in 1 step", Expectation(8): "violated in 8 steps"}
    assert {expected: expected.text for expected in texts} == texts
    assert [expected.verdict for expected in texts] == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.VIOLATED]


def test_a_shipped_spec_has_several_names() -> None:
    by_path = load_spec(data.specs_folder() / "published" / "kip-320.toml")
    assert by_path.name == "published/kip-320"
    assert by_path == load_spec("kip-320") == load_spec("published/kip-320")


def test_shipped_data_is_found_in_a_wheel_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "specs" / "own").mkdir(parents=True)
    written(BASE, "specs/own/only.toml")
    written(BASE, "specs/no-spec.toml")  # only folders hold specs
    monkeypatch.setattr(data, "_IN_WHEEL", folder)
    assert (data.specs_folder(), data.counterexamples_folder()) == (folder / "specs", folder / "counterexamples")
    assert load_spec("only").path == Path("specs/own/only.toml")
    assert list(data.shipped_specs()) == ["own/only"]


def test_an_ambiguous_name_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("crash", "published"):
        (folder / "specs" / kind).mkdir(parents=True)
        written(BASE, f"specs/{kind}/same.toml")
    monkeypatch.setattr(data, "_IN_WHEEL", folder)
    assert message("same") == "'same' may be crash/same or published/same. Write the name in full."
    assert load_spec("crash/same").name == "crash/same"
    extending = message(written('extends = "same"'))
    assert extending == "my.toml:1: 'same' may be crash/same or published/same. Write the name in full."


# What a file says


def test_everything_a_file_says_is_kept() -> None:
    text = BASE.replace("[bounds]", 'source = "KIP-1"\nnotes = """\nTwo\nlines."""\n[bounds]') + "[quick]\nepochs = 1\n"
    spec = load_spec(written(text))
    assert (spec.name, spec.title, spec.source, spec.notes) == ("my", "A spec of the tests", "KIP-1", "Two\nlines.")
    assert spec.variant == NAMED_VARIANTS["published/kip-320"].changed({"truncation": "published-kip-101"})
    assert spec.features == {"truncation": "published-kip-101"}
    assert spec.all_features() == {
        **spec.all_features(),
        "truncation": "published-kip-101",
        "synchrony": "leader-epoch",
    }
    assert spec.bounds == Bounds(replicas=2, epochs=2)
    assert spec.quick == Bounds(replicas=2, epochs=1)
    assert (spec.invariants, spec.reachable, spec.never_enabled) == (
        ("WeakIsr", "StrongIsr"),
        ("SecondElection",),
        ("write",),
    )
    assert spec.expect == {"WeakIsr": Expectation(), "StrongIsr": Expectation(9)}
    assert spec.counts == ExpectedCounts(distinct=100)


def test_little_is_required() -> None:
    spec = load_spec(written('title = "t"\nvariant = "published/kip-320"\ninvariants = ["WeakIsr"]\n'))
    assert (spec.bounds, spec.quick, spec.features) == (Bounds(), None, {})
    assert (spec.reachable, spec.never_enabled, spec.expect, spec.counts) == ((), (), {}, None)


def test_a_rule_of_the_variant_itself_is_no_difference() -> None:
    spec = load_spec(written(BASE.replace("published-kip-101", "matching-prefix")))
    assert spec.features == {}


def test_a_policy_of_ones_own_is_looked_for_beside_the_spec() -> None:
    Path("sub").mkdir()
    variant = 'title = "mine"\nvariant = "brokers/kip-320"\ninvariants = ["WeakIsr"]\n'
    written(f'{variant}features.truncation = "policy.py"\n', "sub/mine.toml")
    written("from model.kafka.policies.kip_101 import cut\n", "sub/policy.py")
    written('extends = "sub/mine.toml"\n')
    for spec in (load_spec("my.toml"), load_spec("sub/mine.toml")):
        assert (spec.features, spec.policy) == ({"truncation": "policy.py"}, Path("sub/policy.py"))


def test_keys_know_their_lines() -> None:
    spec = load_spec(written(BASE))
    assert spec.place("bounds", "epochs") == Place("my.toml", 9)
    assert spec.place("bounds", "records") == Place("my.toml", 7)
    assert spec.place("quick", "records") == Place("my.toml", 0)
    assert spec.place_of("StrongIsr") == Place("my.toml", 16)
    assert spec.changed(invariants=["LeaderInIsr"]).place_of("LeaderInIsr") == Place("my.toml", 3)
    assert load_spec(written(BASE[: BASE.index("[expect]")])).place_of("StrongIsr") == Place("my.toml", 3)


def test_a_spec_travels_between_processes() -> None:
    spec = load_spec(written(BASE))
    assert pickle.loads(pickle.dumps(spec)) == spec


@pytest.mark.parametrize(("file", "name"), [("a.b.toml", "a.b"), ("plain", "plain"), ("...toml", "...toml")])
def test_a_file_gives_a_name_that_is_no_path(file: str, name: str) -> None:
    assert load_spec(written(BASE, f"./{file}")).name == name


def test_a_spec_may_come_through_a_pipe() -> None:
    reading, writing = os.pipe()
    os.write(writing, BASE.encode())
    os.close(writing)
    assert load_spec(f"/dev/fd/{reading}").title == "A spec of the tests"
    os.close(reading)


# Extending


def test_a_spec_extends_a_shipped_one_key_by_key() -> None:
    spec = load_spec(
        written('extends = "kip-279"\ntitle = "mine"\n[bounds]\nepochs = 4\n[expect]\nWeakIsr = "holds"\n')
    )
    assert (spec.name, spec.title, spec.source) == ("my", "mine", load_spec("kip-279").source)
    assert spec.bounds == Bounds(epochs=4)
    assert (spec.expect, spec.counts) == ({"WeakIsr": Expectation()}, None)
    assert [path.name for path in spec.files] == ["my.toml", "kip-279.toml"]


def test_expectations_are_inherited_for_the_same_model_only() -> None:
    base = load_spec("kip-279")
    retold = load_spec(written('extends = "kip-279"\ntitle = "retold"\nbounds.epochs = 3\n'))
    assert (retold.expect, retold.counts) == (base.expect, base.counts)
    assert str(retold.place_of("WeakIsr")).endswith("kip-279.toml:21")
    narrowed = load_spec(written('extends = "kip-279"\ninvariants = ["WeakIsr"]\n'))
    assert (narrowed.expect, narrowed.counts) == ({"WeakIsr": Expectation(10)}, base.counts)
    for change in ("bounds.epochs = 2", 'features.truncation = "high-watermark"', 'variant = "published/kip-320"'):
        other = load_spec(written(f'extends = "kip-279"\n{change}\n'))
        assert (other.expect, other.counts) == ({}, None)


def test_specs_extend_files_beside_them() -> None:
    Path("sub").mkdir()
    written(BASE, "sub/base.toml")
    written('extends = "base.toml"\n[expect]\nStrongIsr = { violated = 12 }\n', "sub/middle.toml")
    spec = load_spec(written('extends = "sub/middle.toml"\nreachable = []\n[expect.counts]\norbits = 50\n'))
    assert (spec.reachable, spec.expect["StrongIsr"]) == ((), Expectation(12))
    assert spec.counts == ExpectedCounts(distinct=100, orbits=50)
    assert spec.files == (Path("my.toml"), Path("sub/middle.toml"), Path("sub/base.toml"))
    assert [str(spec.place("expect", name)) for name in ("WeakIsr", "StrongIsr", "counts")] == [
        "sub/base.toml:15",
        "sub/middle.toml:3",
        "my.toml:3",
    ]


def test_a_mistake_is_told_where_it_was_made() -> None:
    written(BASE.replace("epochs = 2", "epochs = 0"), "base.toml")
    written('extends = "base.toml"\n[bounds]\nlog_size = 1')
    assert message("my.toml").startswith("base.toml:9: the bound epochs is 0")
    written('extends = "base.toml"\n[bounds]\nepochs = "many"')
    assert message("my.toml").startswith("my.toml:3: the bound epochs is 'many'")


@pytest.mark.parametrize(
    ("extends", "expected"),
    [
        ('"my.toml"', f"my.toml:1: my.toml extends itself. {CIRCLE}"),
        ('"./b.toml"', f"c.toml:2: my.toml extends b.toml, which extends c.toml, which extends my.toml. {CIRCLE}"),
        ('"kip-302"', "my.toml:1: there is no shipped spec 'kip-302'. Did you mean 'published/kip-320'?"),
        ('"b"', "my.toml:1: there is no shipped spec 'b'. The file beside this one is written 'b.toml'."),
        (
            '"kip-320.toml"',
            "my.toml:1: there is no file 'kip-320.toml' beside this one. Did you mean 'published/kip-320'?",
        ),
        ("3", 'my.toml:1: extends must name a spec. Write extends = "kip-320" or "base.toml".'),
        ('"a\\u0000"', 'my.toml:1: extends must name a spec. Write extends = "kip-320" or "base.toml".'),
        ('"empty.toml"', "empty.toml: the file is empty. A spec has a variant and invariants."),
    ],
    ids=["itself", "circle", "mistyped", "no-suffix", "missing", "number", "nul", "broken-base"],
)
def test_a_base_that_cannot_be_had(extends: str, expected: str) -> None:
    written('extends = "c.toml"', "b.toml")
    written('# round\nextends = "my.toml"', "c.toml")
    written("", "empty.toml")
    assert message(written(f"extends = {extends}\n")) == expected


# Changing


@pytest.fixture
def spec() -> Spec:
    return load_spec("kip-279")


def test_other_bounds_or_features_are_another_model(spec: Spec) -> None:
    smaller = spec.changed(bounds={"epochs": 2, "replicas": 2})
    assert smaller.bounds == Bounds(replicas=2, epochs=2)
    fenced = spec.changed(features={"synchrony": "leader-epoch"})
    assert fenced.features == {"synchrony": "leader-epoch"}
    for changed in (smaller, fenced):
        assert (changed.is_as_written, changed.expect, changed.counts) == (False, {}, None)
        assert (changed.invariants, changed.name) == (spec.invariants, spec.name)


def test_the_same_bounds_and_features_are_no_change(spec: Spec) -> None:
    assert spec.changed() == spec
    assert spec.changed({"epochs": 3}, {"synchrony": "leader"}, list(spec.invariants)) == spec


def test_a_bound_counts_while_the_rules_look_at_it() -> None:
    crashing = BASE.replace("[bounds]", "[bounds]\ncrashes = 2").replace("published-kip-101", "kip-279")
    crashing = crashing.replace("published/kip-320", "brokers/kip-320")
    spec = load_spec(written(crashing.replace("[features]", '[features]\ncrash = "process"')))
    assert spec.bounds.crashes == 2
    assert spec.changed(features={"crash": "none"}).bounds == Bounds(replicas=2, epochs=2)
    assert spec.changed(bounds={"crashes": 0}).bounds.crashes == 0
    assert load_spec("kip-320").changed(bounds={"crashes": 0}) == load_spec("kip-320")


def test_selected_invariants_keep_their_expectations(spec: Spec) -> None:
    narrowed = spec.changed(invariants=["WeakIsr", "WeakIsr"])
    assert (narrowed.invariants, narrowed.expect) == (("WeakIsr",), {"WeakIsr": Expectation(10)})
    assert narrowed.is_as_written
    assert spec.counts is not None
    assert narrowed.counts == ExpectedCounts(spec.counts.distinct, None, spec.counts.depth, spec.counts.generated)
    assert narrowed.protocol().invariant_names == ("WeakIsr",)


def test_actions_that_a_changed_variant_lacks_are_forgotten() -> None:
    spec = load_spec(written(BASE)).changed(features={"truncates": "lazily", "synchrony": "record-epoch"})
    assert spec.never_enabled == ("write",)
    written('extends = "kip-320-first-try"\nnever_enabled = ["truncate"]\n')
    assert load_spec("my.toml").changed(features={"truncates": "at-adoption"}).never_enabled == ()


def test_quick_bounds() -> None:
    text = BASE + "[quick]\nepochs = 1\n"
    quick = load_spec(written(text)).at_quick_bounds()
    assert (quick.bounds, quick.is_as_written) == (Bounds(replicas=2, epochs=1), False)
    same = load_spec("kip-320")
    assert same.at_quick_bounds() is same


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bounds": {"replica": 2}}, "there is no bound 'replica'. Did you mean 'replicas'?"),
        ({"bounds": {"epochs": 0}}, "the bound epochs is 0. Give a number from 1 to 1000."),
        ({"features": {"synchroni": "leader"}}, "there is no feature 'synchroni'. Did you mean 'synchrony'?"),
        ({"features": {"log_size": "3"}}, "log_size is a bound, not a feature. Write --log-size 3."),
        ({"bounds": {"crashes": 1}}, f"published/kip-279 has no use for --crashes. {WHAT_IT_HAS}"),
        ({"invariants": ["weak_isr"]}, "there is no invariant 'weak_isr'. Did you mean 'WeakIsr'?"),
        ({"invariants": []}, "no invariant is selected, so nothing would be checked."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_impossible_changes(spec: Spec, changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        spec.changed(**changes)
    assert str(caught.value) == expected


# Traces


def test_a_trace_names_its_model(spec: Spec) -> None:
    document = {
        "spec": "gone/long-ago",
        "variant": spec.variant_name,
        "features": spec.all_features(),
        "bounds": spec.all_bounds() | {"replicas": 2, "log_size": 1},
    }
    told = spec_for_trace(document)
    assert (told.name, told.variant, told.features, told.path) == ("gone/long-ago", spec.variant, {}, None)
    assert told.all_bounds() == document["bounds"]
    assert told.full_protocol().invariant_names == told.invariants == ("LeaderInIsr", "WeakIsr", "StrongIsr")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"spec": 3}, TraceError),
        ({"variant": None}, TraceError),
        ({"variant": "published/kip-1"}, UsageError),
        ({"bounds": [2]}, TraceError),
        ({"bounds": {"epochs": "2"}}, UsageError),
        ({"bounds": {"epochs": 900}}, UsageError),
        ({"features": "none"}, TraceError),
        ({"features": {"synchrony": ["leader"]}}, UsageError),
    ],
    ids=str,
)
def test_a_trace_that_names_nothing(spec: Spec, change: dict[str, Any], kind: type[TidegaugeError]) -> None:
    document = {"spec": "s", "variant": spec.variant_name, "features": {}, "bounds": {}} | change
    with pytest.raises(kind):
        spec_for_trace(document).full_protocol()


# Size


@pytest.mark.parametrize("bounds", [(1, 1, 1, 1), (2, 2, 2, 3), (3, 2, 2, 3), (3, 1, 2, 4)], ids=str)
@pytest.mark.parametrize("name", NAMED_VARIANTS)
def test_the_estimate_is_what_comes_out(name: str, bounds: tuple[int, int, int, int]) -> None:
    variant, size = NAMED_VARIANTS[name], Bounds(*bounds)
    protocol = kafka(variant, size)
    guessed = estimate(variant, size)
    assert guessed.cells == len(protocol.cells)
    assert guessed.bits == sum(cell.domain.bits for cell in protocol.cells)
    assert guessed.steps >= len(protocol.steps)
    assert not guessed.problems


@pytest.mark.parametrize("replicas", range(1, 6))
def test_five_replicas_are_not_too_many(replicas: int) -> None:
    bounds = Bounds(replicas, log_size=4, records=4, epochs=5)
    assert not any(estimate(variant, bounds).problems for variant in NAMED_VARIANTS.values())


def test_huge_bounds_are_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.kafka_origin.kafka", lambda *_: pytest.fail("the protocol was staged"))
    spec = load_spec("kip-320").changed(bounds={"replicas": 50, "epochs": 900})
    with pytest.raises(UsageError) as caught:
        spec.protocol()
    assert str(caught.value) == (
        "the bounds (replicas 50, log_size 2, records 2, epochs 900) are too large to be checked exhaustively: about "
        "50 replicas (at most 8), 55,078 bits a state (at most 512), 2,302,700 steps (at most 65,535). "
        "Choose smaller bounds."
    )


def test_a_file_with_huge_bounds_is_refused_with_its_line() -> None:
    written(BASE.replace("replicas = 2", f"replicas = {MOST_REPLICAS + 1}"))
    with pytest.raises(SpecError, match=r"^my\.toml:7: the bounds .* about 9 replicas \(at most 8\)\. "):
        load_spec("my.toml").protocol()
