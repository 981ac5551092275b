"""`shrink`: what is left still violates, is a spec, and is a local minimum."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest
from command_line import elsewhere, tidegauge
from source_tree import ROOT

from checker.data import shipped_specs
from checker.kafka_origin import SAFE
from checker.run import Options, check
from checker.shrink import Change, Shrunk, shrink
from checker.spec import Expectation, Spec, load_spec
from model.errors import ModelError, UsageError

#: The least of each bound that is possible at all.
LEAST: Final = {"crashes": 0}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere(tmp_path, tmp_path_factory.getbasetemp() / "cache", monkeypatch)


def neighbours(spec: Spec) -> list[Spec]:
    """Whatever is one change smaller or safer, made here without `shrink`."""
    found = []
    safe = load_spec(spec.variant_name).all_features() if spec.features else {}
    for name in spec.features:
        try:
            found.append(spec.changed(features={name: safe[name]}))
        except UsageError:
            continue
    for name, value in spec.used_bounds().items():
        for lower in range(LEAST.get(name, 1), value):
            try:
                found.append(spec.changed(bounds={name: lower}))
            except (UsageError, ModelError):
                continue
    return found


def violated(spec: Spec) -> bool:
    return all(found.steps is not None for found in check(spec).invariants)


def test_a_spec_of_the_kafka_protocol() -> None:
    found = shrink(load_spec("kip-279"), ["WeakIsr"])
    assert (found.spec.variant_name, found.spec.features) == ("published/kip-320", {"isr_expansion": "high-watermark"})
    assert found.spec.all_bounds() | {"crashes": 0, "min_insync": 1} == found.spec.all_bounds()
    assert found.spec.used_bounds() == {"replicas": 3, "log_size": 1, "records": 1, "epochs": 3}
    assert found.violated == {"WeakIsr": 13}
    assert set(found.restored) == {
        Change("synchrony", "leader", "leader-epoch"),
        Change("truncation_fencing", "none", "leader-epoch"),
    }
    assert found.lowered == (Change("log_size", 2, 1), Change("records", 2, 1))
    assert violated(found.spec)
    assert not any(map(violated, neighbours(found.spec)))


def test_a_protocol_of_ones_own() -> None:
    found = shrink(load_spec("lock-service-unfenced"))
    assert found.spec.all_bounds() == {"clients": 2, "grants": 2, "writes": 2}
    assert found.violated == {"GrantsInOrder": 5}
    assert not any(map(violated, neighbours(found.spec)))


def test_several_invariants_stay_violated_together() -> None:
    spec = load_spec("acks-1")
    wanted = [name for name, expected in spec.expect.items() if expected.steps]
    found = shrink(spec)
    assert list(found.violated) == wanted
    assert {found.name: found.steps for found in check(found.spec).invariants} == found.violated


def test_variants_called_safe_keep_every_promise() -> None:
    for name in SAFE:
        specs = [load_spec(each) for each in shipped_specs() if not each.startswith(("examples/", "slow/"))]
        of_variant = [spec for spec in specs if spec.variant_name == name and not spec.features]
        assert of_variant
        assert all(set(spec.expect.values()) == {Expectation()} for spec in of_variant)


# The command


def rest(text: str) -> Path:
    Path("rest.toml").write_text(text, encoding="utf-8")
    return Path("rest.toml")


def test_what_is_left_is_a_spec_with_its_expectation() -> None:
    ended = tidegauge("shrink", "published/kip-101", "--epochs", "3", "--invariant", "WeakIsr", "-o", "-", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    spec = load_spec(rest(ended.out))
    (outcome,) = check(spec).invariants
    assert spec.expect == {"WeakIsr": Expectation(outcome.steps)}


def test_the_report() -> None:
    ended = tidegauge("shrink", "lock-service-unfenced")
    assert (ended.code, ended.err) == (0, "")
    report, _, text = ended.out.partition("\ntitle = ")
    assert report.startswith("examples/lock-service-unfenced, shrunk: GrantsInOrder falls in 5 steps.")
    assert "  lowered      grants 3 -> 2, writes 3 -> 2\n" in report
    assert "9 candidates were checked, one change at a time. No single rule can be restored any more" in " ".join(
        report.split()
    )
    shutil.copy(ROOT / "specs" / "examples" / "lock_service.py", ".")
    assert check(load_spec(rest(f"title = {text}"))).invariants[0].steps == 5


def test_an_own_policy_and_where_its_spec_may_be_written() -> None:
    Path("there").mkdir()
    Path("there/keeping.py").write_text(
        "from model.kafka.policy import Cut\n\n\ndef cut(own_cache, log_end, high_watermark, answer):\n"
        "    return Cut(log_end, True)\n",
        encoding="utf-8",
    )
    Path("there/mine.toml").write_text(
        'title = "Nothing is cut"\nvariant = "brokers/kip-320"\ninvariants = ["NoDivergenceBelowHighWatermark"]\n'
        '[features]\ntruncation = "keeping.py"\n[bounds]\nreplicas = 2\nlog_size = 2\nrecords = 2\nepochs = 3\n',
        encoding="utf-8",
    )
    refused = tidegauge("shrink", "there/mine.toml", "-o", "rest.toml")
    assert refused.code == 2
    assert "rest.toml would be in another folder than there/mine.toml. " in refused.err
    itself = tidegauge("shrink", "there/mine.toml", "-o", "there/mine.toml")
    assert "there/mine.toml is a file that mine is made of. Name another file." in itself.err
    assert tidegauge("shrink", "there/mine.toml", "-o", "there/rest.toml", "--quiet").code == 0
    spec = load_spec("there/rest.toml")
    assert (spec.features, spec.policy) == ({"truncation": "keeping.py"}, Path("there/keeping.py"))
    assert violated(spec)


def test_nothing_to_shrink() -> None:
    ended = tidegauge("shrink", "lock-service")
    assert (ended.code, ended.out) == (2, "")
    assert "GrantsInOrder is not violated in examples/lock-service, so there is nothing to shrink." in ended.err
    limited = tidegauge("shrink", "lock-service", "--max-states", "5")
    assert "GrantsInOrder is not known to be violated in examples/lock-service" in limited.err


def test_a_limit_leaves_candidates_open() -> None:
    spec = load_spec("lock-service-unfenced")
    found: Shrunk = shrink(spec, options=Options(max_states=60))
    assert found.undecided
    assert {change.name for change in found.undecided} <= set(spec.all_bounds())
    ended = tidegauge("shrink", "lock-service-unfenced", "--max-states", "60")
    assert ended.code == 3
    assert "a limit left open whether these would have done: " in ended.unwrapped
