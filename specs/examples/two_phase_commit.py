"""Two-phase commit, after Gray and Lamport, "Consensus on Transaction Commit" (2004): resource managers agree with a
transaction manager whether to commit. Messages may come late, and be read again, but are not lost."""

from model.language import Enum, Map, Scalarset, Set, action, any_of, invariant, protocol, reachable, require

Phase = Enum("Phase", ("working", "prepared", "committed", "aborted"))
Decision = Enum("Decision", ("undecided", "commit", "abort"))


def two_phase_commit(managers=3):
    Manager = Scalarset("Manager", managers)

    @action(tells=lambda before, after, manager: f"{manager} is prepared, and says so.")
    def prepare(state, manager: Manager):
        require(state.phase[manager] == "working")
        state.phase[manager] = "prepared"
        state.prepared_sent.add(manager)

    @action(tells=lambda before, after, manager: f"{manager} gives up before it was prepared.")
    def give_up(state, manager: Manager):
        require(state.phase[manager] == "working")
        state.phase[manager] = "aborted"

    @action(tells=lambda before, after, manager: f"The transaction manager hears that {manager} is prepared.")
    def hear(state, manager: Manager):
        require(state.decision == "undecided", state.prepared_sent.has(manager))
        state.prepared_heard.add(manager)

    @action(tells=lambda before, after: "The transaction manager has heard of everybody, and decides to commit.")
    def decide_to_commit(state):
        require(state.decision == "undecided", state.prepared_heard.size == managers)
        state.decision = "commit"

    @action(tells=lambda before, after: "The transaction manager decides to abort.")
    def decide_to_abort(state):
        require(state.decision == "undecided")
        state.decision = "abort"

    @action(tells=lambda before, after, manager, decision: f"{manager} hears what was decided: {decision}.")
    def obey(state, manager: Manager, decision: Decision):
        require(decision != "undecided", state.decision == decision)
        state.phase[manager] = "committed" if decision == "commit" else "aborted"

    @invariant
    def all_or_nothing(state):
        """Nobody commits what somebody else aborts."""
        phases = [state.phase[manager] for manager in state.phase]
        return ~any_of((one == "committed") & (other == "aborted") for one in phases for other in phases)

    @reachable
    def somebody_commits(state):
        return any_of(state.phase[manager] == "committed" for manager in state.phase)

    variables = {"phase": Map(Manager, Phase), "decision": Decision}
    variables |= {"prepared_sent": Set(Manager), "prepared_heard": Set(Manager)}
    actions = [prepare, give_up, hear, decide_to_commit, decide_to_abort, obey]
    promises = {"invariants": [all_or_nothing], "witnesses": [somebody_commits]}
    return protocol("two_phase_commit", variables=variables, actions=actions, **promises)
