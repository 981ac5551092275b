"""Small protocols for tests of symmetry, fair ones and ones that treat members differently."""

from __future__ import annotations

from typing import Any, TypeAlias

from model.language import (
    Bool,
    Map,
    Member,
    Option,
    Protocol,
    Record,
    Scalarset,
    Sequence,
    Set,
    action,
    all_of,
    any_of,
    first,
    implies,
    invariant,
    none,
    protocol,
    reachable,
    record,
    require,
    where,
)

Replica: TypeAlias = Member
Client: TypeAlias = Member


# An election: who is alive, who leads.


@action
def fail(state: Any, replica: Replica) -> None:
    require(state.live.has(replica))
    state.live.remove(replica)
    state.leader = where(state.leader == replica, none, state.leader)


@action
def recover(state: Any, replica: Replica) -> None:
    require(~state.live.has(replica))
    state.live.add(replica)


@action
def elect(state: Any, replica: Replica) -> None:
    require(state.leader == none)
    require(state.live.has(replica))
    state.leader = replica


@action
def elect_lowest(state: Any, replica: Replica) -> None:
    """A controller that prefers the lowest replica id."""
    require(state.leader == none)
    require(state.live.has(replica))
    require(all_of(~state.live.has(other) for other in state.live.members() if other.position < replica.position))
    state.leader = replica


@action
def elect_first(state: Any) -> None:
    """The same controller, its preference hidden in the update."""
    require(state.leader == none)
    state.leader = first(((state.live.has(each), each) for each in state.live.members()), otherwise=none)


@invariant
def leader_is_alive(state: Any) -> Any:
    return implies(state.leader != none, any_of((state.leader == r) & state.live.has(r) for r in state.live.members()))


@invariant
def c_never_leads(state: Any) -> Any:
    return state.leader != "C"


@reachable
def somebody_leads(state: Any) -> Any:
    return state.leader != none


@reachable
def b_leads(state: Any) -> Any:
    return state.leader == "B"


def election(replicas: int = 3, election_rule: Any = elect, **changed: Any) -> Protocol:
    replica = Scalarset("Replica", replicas)
    parts: dict[str, Any] = {
        "variables": {"leader": Option(replica), "live": Set(replica)},
        "domains": {"Replica": replica},
        "actions": [fail, recover, election_rule],
        "invariants": [leader_is_alive],
        "witnesses": [somebody_leads],
    }
    return protocol("election", **(parts | changed))


# Ids in keys, in sets, in values of maps and in messages.


@action
def send(state: Any, source: Replica, target: Replica) -> None:
    require(source != target)
    require(~state.inbox.is_full)
    state.inbox.append(record(source=source, target=target))
    state.seen[source].add(target)
    state.latest[source] = target


@action
def answer(state: Any) -> None:
    require(~state.inbox.is_empty)
    message = state.inbox.last
    require(message.source != none)
    state.seen[message.source].remove(message.target)
    state.inbox.truncate(state.inbox.length - 1)


@action
def answer_as_a(state: Any) -> None:
    require(~state.inbox.is_empty)
    require(state.inbox.last.target == "A")
    state.inbox.truncate(state.inbox.length - 1)


def mail(*actions: Any, replicas: int = 3, **changed: Any) -> Protocol:
    replica = Scalarset("Replica", replicas)
    message = Record(source=replica, target=Option(replica))
    return protocol(
        "mail",
        variables={
            "inbox": Sequence(message, 2),
            "seen": Map(replica, Set(replica)),
            "latest": Map(replica, Option(replica)),
        },
        domains={"Replica": replica},
        actions=actions,
        **changed,
    )


# Two scalarsets.


@action
def lock(state: Any, client: Client, replica: Replica) -> None:
    require(state.holder[replica] == none)
    state.holder[replica] = client


@action
def unlock(state: Any, replica: Replica) -> None:
    require(state.holder[replica] != none)
    state.holder[replica] = none


@invariant
def a_is_not_locked_by_b(state: Any) -> Any:
    return state.holder["A"] != "B"


def locks(*invariants: Any) -> Protocol:
    replica, client = Scalarset("Replica", 3), Scalarset("Client", 2)
    return protocol(
        "locks",
        variables={"holder": Map(replica, Option(client))},
        domains={"Replica": replica, "Client": client},
        actions=[lock, unlock],
        invariants=invariants,
    )


# Sequences.


@action
def append(state: Any, replica: Replica) -> None:
    require(~state.log.is_full)
    state.log.append(record(owner=replica))


@invariant
def second_place_is_used_or_not_b(state: Any) -> Any:
    return (state.log.length == 2) | (state.log[1].owner != "B")


def logs() -> Protocol:
    replica = Scalarset("Replica", 2)
    return protocol(
        "logs",
        variables={"log": Sequence(Record(owner=replica), 2), "noted": Bool()},
        domains={"Replica": replica},
        actions=[append],
        invariants=[second_place_is_used_or_not_b],
    )
