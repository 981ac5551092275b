"""The Kafka replication protocol, assembled from a variant and bounds."""

from __future__ import annotations

from model.kafka import controller, follower, leader
from model.kafka.invariants import INVARIANTS, WITNESSES
from model.kafka.state import domains, everyone_in_sync, variables
from model.kafka.synchrony import ISR_EXPANSION, SYNCHRONY, TRUNCATION_FENCING
from model.kafka.truncation import TRUNCATION
from model.kafka.variant import Bounds, Variant
from model.language import Protocol, protocol

_FOLLOWER_ACTIONS = {"at-adoption": follower.ACTIONS_AT_ADOPTION, "lazily": follower.ACTIONS_LAZILY}


def kafka(variant: Variant, bounds: Bounds) -> Protocol:
    """Stage the protocol. Cost: about a tenth of a second for three replicas."""
    return protocol(
        "kafka",
        variables=variables(bounds),
        domains=domains(bounds),
        initial=everyone_in_sync,
        actions=(*controller.ACTIONS, *leader.ACTIONS, *_FOLLOWER_ACTIONS[variant.truncates]),
        invariants=INVARIANTS,
        witnesses=WITNESSES,
        mechanisms={
            "records": bounds.records,
            "epochs": bounds.epochs,
            "synchrony": SYNCHRONY[variant.synchrony],
            "isr_expansion": ISR_EXPANSION[variant.isr_expansion],
            "truncation": TRUNCATION[variant.truncation],
            "truncation_fencing": TRUNCATION_FENCING[variant.truncation_fencing],
        },
    )
