"""The controller: takes replicas out of the ISR, elects leaders, and tells everybody in a LeaderAndIsr request.

Each step takes the next leader epoch, stores the new leader and ISR under it, and sends the request.
Source: KafkaReplication.tla, `ControllerShrinkIsr` and `ControllerElectLeader`; KIP-966 (eligible leader replicas).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from model.kafka import arrows, stories
from model.kafka.mechanisms import Brokers, Membership
from model.kafka.state import Replica, State
from model.language import SetValue, action, none, record, require, where


@action(tells=stories.controller_shrinks_isr, draws=arrows.controller_shrinks_isr)
def controller_shrinks_isr(state: State, replica: Replica, *, epochs: int, membership: Membership) -> None:
    """The controller believes that a replica has failed. The last member stays in the ISR, though it leads no more."""
    quorum = state.quorum
    leads = quorum.leader == replica
    require(leads | quorum.isr.has(replica))
    others = quorum.isr.without(replica)
    stays = leads & quorum.isr.is_just(replica) & membership.last_stays
    decide(state, epochs, where(leads, none, quorum.leader), where(stays, quorum.isr, others), membership)


@action(tells=stories.controller_elects, draws=arrows.controller_elects)
def elect_from_isr(state: State, replica: Replica, *, epochs: int, membership: Membership, brokers: Brokers) -> None:
    """A clean election: any member of the ISR that does not lead already."""
    require(state.quorum.isr.has(replica))
    require(state.quorum.leader != replica)
    require(brokers.electable(state, replica))
    decide(state, epochs, replica, state.quorum.isr, membership)


@action(tells=stories.controller_elects_unclean, draws=arrows.controller_elects_unclean)
def elect_any(state: State, replica: Replica, *, epochs: int, membership: Membership, brokers: Brokers) -> None:
    """An unclean election: when no member of the ISR works, any other replica that does becomes leader, alone."""
    require(state.quorum.leader == none)
    require(~state.quorum.isr.any(lambda member: brokers.works(state, member)))
    require(brokers.electable(state, replica))
    decide(state, epochs, replica, state.quorum.isr.just(replica), membership)


@action(tells=stories.controller_elects_eligible, draws=arrows.controller_elects_eligible)
def elect_eligible(state: State, replica: Replica, *, epochs: int, membership: Membership, brokers: Brokers) -> None:
    """KIP-966: with the ISR empty, an eligible leader replica holds everything that was committed."""
    require(state.quorum.isr.is_empty)
    require(state.quorum.eligible.has(replica))
    require(brokers.electable(state, replica))
    decide(state, epochs, replica, state.quorum.isr.just(replica), membership)


def decide(state: State, epochs: int, leader: Any, isr: Any, membership: Membership) -> None:
    """Store leader and ISR under the next epoch, and send them to everybody."""
    epoch = state.next_epoch
    require(epoch < epochs)
    state.requests[epoch] = record(leader=leader, isr=isr)
    state.quorum.leader_epoch = epoch
    state.quorum.leader = leader
    membership.store(state, isr)
    state.next_epoch = epoch + 1


def store_isr(state: State, isr: SetValue) -> None:
    state.quorum.isr = isr


def eligible_at(min_insync: int) -> Callable[[State, SetValue], None]:
    """KIP-966: below min.insync.replicas the high watermark is frozen, so whoever leaves the ISR then still holds
    everything committed, and stays eligible until the ISR is large enough again."""

    def store(state: State, isr: SetValue) -> None:
        left = state.quorum.isr.minus(isr)
        kept = state.quorum.eligible.union(left).minus(isr)
        state.quorum.eligible = where(isr.size >= min_insync, set(), kept)
        state.quorum.isr = isr

    return store


KEEPS_LAST_MEMBER: Final = Membership(store_isr, last_stays=True)
ELECTIONS: Final = {
    "clean": (elect_from_isr,),
    "unclean": (elect_from_isr, elect_any),
    "eligible": (elect_from_isr, elect_eligible),
}
