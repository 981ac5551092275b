"""Locks with leases, in front of a storage. The service gives up on a holder that seems dead; if it is only slow, it
writes on. Grants are numbered: a storage that refuses older numbers keeps the order, one that does not breaks it."""

from itertools import pairwise

from model.language import Map, Option, Range, Scalarset, Sequence, action, all_of, any_of, implies, invariant
from model.language import none, protocol, reachable, require


def fenced(clients=2, grants=2, writes=2):
    return _lock_service(clients, grants, writes, lambda state, grant: grant >= state.newest)


def unfenced(clients=2, grants=2, writes=2):
    return _lock_service(clients, grants, writes, lambda state, grant: True)


def _lock_service(clients, grants, writes, accepts):
    Client, Grant = Scalarset("Client", clients), Range(0, grants - 1)

    @action(tells=lambda before, after, client: f"{client} is granted the lock, with number {after.lease[client]}.")
    def acquire(state, client: Client):
        require(state.holder == none, state.next_grant < grants)
        state.holder = client
        state.lease[client] = state.next_grant
        state.next_grant += 1

    @action(tells=lambda before, after: f"The service takes {before.holder} for dead, and the lock back.")
    def expire(state):
        require(state.holder != none)
        state.holder = none

    @action(tells=lambda before, after, client: f"{client} writes, under its grant {before.lease[client]}.")
    def write(state, client: Client):
        require(state.lease[client].is_some, ~state.written.is_full)
        require(accepts(state, state.lease[client]))
        state.written.append(state.lease[client])
        state.newest = state.lease[client]

    @invariant
    def grants_in_order(state):
        """Nothing is written under an older grant once something was written under a newer one."""
        pairs = pairwise(state.written.offsets)
        return all_of(implies(state.written.has(b), state.written[a] <= state.written[b]) for a, b in pairs)

    @reachable
    def second_holder_writes(state):
        return any_of(state.written.has(offset) & (state.written[offset] > 0) for offset in state.written.offsets)

    variables = {"holder": Option(Client), "next_grant": Range(0, grants), "lease": Map(Client, Option(Grant))}
    variables |= {"newest": Grant, "written": Sequence(Grant, writes)}
    promises = {"invariants": [grants_in_order], "witnesses": [second_holder_writes]}
    return protocol("lock_service", variables=variables, actions=[acquire, expire, write], **promises)
