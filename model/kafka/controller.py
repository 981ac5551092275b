"""The controller: takes replicas out of the ISR, elects leaders, and tells everybody in a LeaderAndIsr request.

Each step takes the next leader epoch, stores the new leader and ISR under it, and sends the request.
Source: Kip101.tla … Kip320.tla (KafkaReplication.tla), `ControllerShrinkIsr` and `ControllerElectLeader`.
"""

from __future__ import annotations

from typing import Any

from model.kafka import stories
from model.kafka.state import Replica, State
from model.language import action, none, record, require, where


@action(tells=stories.controller_shrinks_isr)
def controller_shrinks_isr(state: State, replica: Replica, *, epochs: int) -> None:
    """The controller believes that a replica has failed. The last member stays in the ISR, though it leads no more."""
    quorum = state.quorum
    leads = quorum.leader == replica
    require(leads | quorum.isr.has(replica))
    isr = where(leads & quorum.isr.is_just(replica), quorum.isr, quorum.isr.without(replica))
    _decide(state, epochs, leader=where(leads, none, quorum.leader), isr=isr)


@action(tells=stories.controller_elects)
def controller_elects(state: State, replica: Replica, *, epochs: int) -> None:
    """A clean election: any member of the ISR that does not lead already."""
    require(state.quorum.isr.has(replica))
    require(state.quorum.leader != replica)
    _decide(state, epochs, leader=replica, isr=state.quorum.isr)


def _decide(state: State, epochs: int, leader: Any, isr: Any) -> None:
    """Store leader and ISR under the next epoch, and send them to everybody."""
    epoch = state.next_epoch
    require(epoch < epochs)
    state.requests[epoch] = record(leader=leader, isr=isr)
    state.quorum.leader_epoch = epoch
    state.quorum.leader = leader
    state.quorum.isr = isr
    state.next_epoch = epoch + 1


ACTIONS = (controller_shrinks_isr, controller_elects)
