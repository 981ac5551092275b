"""The Kafka replication protocol, assembled from a variant and bounds."""

from __future__ import annotations

from typing import Any

from model.kafka import broker, controller, follower, leader, ledger, policy, positions, synchrony
from model.kafka.drawing import lanes
from model.kafka.epoch_cache import EPOCH_CACHES
from model.kafka.invariants import invariants, witnesses
from model.kafka.mechanisms import IsrExpansion, Membership
from model.kafka.state import domains, variables
from model.kafka.truncation import TRUNCATION
from model.kafka.variant import Bounds, Variant
from model.language import Protocol, protocol

_CRASHES = {"none": (), "process": (broker.crash,), "power": (broker.lose_power,)}


def kafka(variant: Variant, bounds: Bounds) -> Protocol:
    """Stage the protocol. Cost: about a tenth of a second for three replicas."""
    return protocol(
        "kafka",
        variables=variables(variant, bounds),
        domains=domains(bounds),
        initial=leader.STARTS[variant.start],
        actions=_actions(variant),
        invariants=invariants(variant),
        witnesses=witnesses(variant),
        mechanisms=_mechanisms(variant, bounds),
        draws_state=lanes,
    )


def _actions(variant: Variant) -> tuple[Any, ...]:
    return (
        controller.controller_shrinks_isr,
        *controller.ELECTIONS[variant.election],
        *leader.ACTIONS,
        *leader.ISR_CHANGES[variant.isr_change],
        leader.advance_high_watermark,
        *follower.FOLLOWING[variant.truncates],
        *_CRASHES[variant.crash],
        *((broker.RESTARTS[variant.restart],) if variant.crash != "none" else ()),
        *((broker.begin_shutdown, broker.stop) if variant.shutdown == "controlled" else ()),
        *((broker.flush,) if variant.flush == "background" else ()),
    )


def _mechanisms(variant: Variant, bounds: Bounds) -> dict[str, Any]:
    """The rule for each mechanism, as the variant says; and the bounds that actions ask for by name."""
    return {
        "records": bounds.records,
        "epochs": bounds.epochs,
        "crashes": bounds.crashes,
        "min_insync": bounds.min_insync,
        "brokers": broker.brokers(variant.crash, variant.request_fencing, variant.admission),
        "membership": _membership(variant, bounds),
        "synchrony": synchrony.SYNCHRONY[variant.synchrony],
        "commitment": synchrony.commitment(variant.commit_allowed, variant.commit_waits_for),
        "isr_expansion": _isr_expansion(variant),
        "truncation_fencing": synchrony.TRUNCATION_FENCING[variant.truncation_fencing],
        "fetch_fencing": synchrony.FETCH_FENCING[variant.fetch_fencing],
        "positions": positions.POSITIONS[variant.positions] if variant.synchrony == "position" else positions.OBSERVED,
        "producer": ledger.PRODUCERS[variant.acks],
        "epoch_cache": EPOCH_CACHES[variant.epoch_cache if variant.uses_epoch_caches else "none"],
        "checkpoint": broker.CHECKPOINTS[variant.checkpoint],
        "recovery": broker.RECOVERY[variant.recovery],
        "flushing": variant.flush == "background",
        **_truncation(variant),
    }


def _membership(variant: Variant, bounds: Bounds) -> Membership:
    if variant.election == "eligible":
        return Membership(controller.eligible_at(bounds.min_insync), last_stays=False)
    return controller.KEEPS_LAST_MEMBER


def _isr_expansion(variant: Variant) -> IsrExpansion:
    rule = synchrony.ISR_EXPANSION[variant.isr_expansion]
    guarded = variant.shutdown == "controlled" and variant.isr_members == "running"
    return synchrony.only_running(rule) if guarded else rule


def _truncation(variant: Variant) -> dict[str, Any]:
    if variant.uses_epoch_caches:
        return {"truncation_policy": policy.load(variant.truncation)}
    return {"truncation": TRUNCATION[variant.truncation]}
