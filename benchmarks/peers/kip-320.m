-- The replication protocol of KIP-320 as published in TLA+ (Kip320.tla), written again for the model checker Rumur,
-- so that tidegauge's speed can be compared with that of another checker on the same states.
--
-- Layout: bounds, types, state, predicates, controller steps, replica steps, initial state, invariants.
-- One rule instance is one step of tidegauge, hence equal counts of states and of rules fired.
--
-- "Nobody" is an undefined replica and the epoch before the first is NO_EPOCH. Cells without a meaning (a log above its
-- end, a request that was not sent) stay undefined or false, so that equal protocol states are equal Murphi states.

const
  REPLICAS: 3;
  LOG_SIZE: 2;
  RECORDS: 2;   -- how many records producers may write
  EPOCHS: 3;    -- how many leader epochs the controller may hand out
  NO_EPOCH: -1;

type
  Replica: scalarset(REPLICAS);
  ReplicaSet: array [Replica] of boolean;
  Epoch: 0 .. EPOCHS - 1;
  Offset: 0 .. LOG_SIZE - 1;
  LogEnd: 0 .. LOG_SIZE;

  LogRecord: record
    id: 0 .. RECORDS - 1;
    epoch: Epoch;
  end;

  -- What a LeaderAndIsr request says; its epoch is its index in `requests`.
  Request: record
    leader: Replica;
    isr: ReplicaSet;
  end;

  Broker: record
    log: array [Offset] of LogRecord;
    log_end: LogEnd;
    high_watermark: LogEnd;
    leader_epoch: NO_EPOCH .. EPOCHS - 1;
    leader: Replica;
    isr: ReplicaSet;
  end;

-- The controller's own leader epoch is always the last one it handed out, next_epoch - 1, and needs no variable.
var
  next_epoch: 0 .. EPOCHS;
  next_record: 0 .. RECORDS;
  quorum: Request;
  requests: array [Epoch] of Request;
  brokers: array [Replica] of Broker;


-- Predicates -----------------------------------------------------------------------------------------------------

function follows(follower: Replica; leader: Replica): boolean;
begin
  return !isundefined(brokers[follower].leader) & brokers[follower].leader = leader;
end;

function presumes_leadership(leader: Replica): boolean;
begin
  return follows(leader, leader);
end;

function in_epoch_of(follower: Replica; leader: Replica): boolean;
begin
  return presumes_leadership(leader) & follows(follower, leader)
       & brokers[follower].leader_epoch = brokers[leader].leader_epoch;
end;

function leads_quorum(leader: Replica): boolean;
begin
  return !isundefined(quorum.leader) & quorum.leader = leader;
end;

function is_true_leader(leader: Replica): boolean;
begin
  return leads_quorum(leader) & presumes_leadership(leader)
       & brokers[leader].leader_epoch = next_epoch - 1;
end;

-- A new leader must not let anybody into its ISR before its high watermark has reached its own epoch.
function high_watermark_in_own_epoch(leader: Replica): boolean;
begin
  return brokers[leader].high_watermark = brokers[leader].log_end
       | brokers[leader].log[brokers[leader].high_watermark].epoch = brokers[leader].leader_epoch;
end;

function same_record(left: Replica; right: Replica; offset: Offset): boolean;
begin
  return offset < brokers[left].log_end & offset < brokers[right].log_end
       & brokers[left].log[offset].id = brokers[right].log[offset].id
       & brokers[left].log[offset].epoch = brokers[right].log[offset].epoch;
end;

-- KIP-279, where the published model abstracts from epoch caches: one past the last offset with identical records.
function matching_prefix(follower: Replica; leader: Replica): LogEnd;
var matching: LogEnd;
begin
  matching := 0;
  for offset: Offset do
    if same_record(follower, leader, offset) then matching := offset + 1; end;
  end;
  return matching;
end;


-- Steps of the controller ----------------------------------------------------------------------------------------

procedure send_request();
begin
  requests[next_epoch] := quorum;
  next_epoch := next_epoch + 1;
end;

ruleset r: Replica do
  rule "controller shrinks ISR"
    next_epoch < EPOCHS & (leads_quorum(r) | quorum.isr[r])
  ==>
  begin
    -- The last member of the ISR loses its leadership but stays in the ISR.
    if !leads_quorum(r) | exists other: Replica do other != r & quorum.isr[other] end then
      quorum.isr[r] := false;
    end;
    if leads_quorum(r) then undefine quorum.leader; end;
    send_request();
  end;

  rule "controller elects leader"
    next_epoch < EPOCHS & quorum.isr[r] & !leads_quorum(r)
  ==>
  begin
    quorum.leader := r;
    send_request();
  end;
end;


-- Steps of the replicas ------------------------------------------------------------------------------------------

procedure adopt(r: Replica; epoch: Epoch);
begin
  brokers[r].leader_epoch := epoch;
  brokers[r].leader := requests[epoch].leader;
  brokers[r].isr := requests[epoch].isr;
end;

procedure truncate(r: Replica; log_end: LogEnd);
begin
  for offset: Offset do
    if offset >= log_end then undefine brokers[r].log[offset]; end;
  end;
  brokers[r].log_end := log_end;
  if brokers[r].high_watermark > log_end then brokers[r].high_watermark := log_end; end;
end;

ruleset epoch: Epoch do
  rule "become leader"
    !isundefined(requests[epoch].leader) & brokers[requests[epoch].leader].leader_epoch < epoch
  ==>
  begin
    adopt(requests[epoch].leader, epoch);
  end;

  -- Fenced: the leader must have adopted the very epoch that the follower is told of.
  ruleset r: Replica do
    rule "become follower"
      brokers[r].leader_epoch < epoch
      & !isundefined(requests[epoch].leader) & requests[epoch].leader != r
      & presumes_leadership(requests[epoch].leader)
      & brokers[requests[epoch].leader].leader_epoch = epoch
    ==>
    begin
      truncate(r, matching_prefix(r, requests[epoch].leader));
      adopt(r, epoch);
    end;
  end;
end;

ruleset l: Replica do
  rule "leader writes"
    next_record < RECORDS & presumes_leadership(l) & brokers[l].log_end < LOG_SIZE
  ==>
  begin
    brokers[l].log[brokers[l].log_end].id := next_record;
    brokers[l].log[brokers[l].log_end].epoch := brokers[l].leader_epoch;
    brokers[l].log_end := brokers[l].log_end + 1;
    next_record := next_record + 1;
  end;

  rule "leader advances high watermark"
    presumes_leadership(l) & brokers[l].high_watermark < brokers[l].log_end
    & forall f: Replica do
        brokers[l].isr[f] -> in_epoch_of(f, l) & brokers[f].log_end > brokers[l].high_watermark
      end
  ==>
  begin
    brokers[l].high_watermark := brokers[l].high_watermark + 1;
  end;

  ruleset f: Replica do
    rule "leader shrinks ISR"
      l != f & is_true_leader(l) & brokers[l].isr[f]
      & (!in_epoch_of(f, l) | brokers[f].log_end < brokers[l].log_end)
    ==>
    begin
      brokers[l].isr[f] := false;
      quorum.isr := brokers[l].isr;
    end;

    rule "leader expands ISR"
      is_true_leader(l) & !brokers[l].isr[f] & in_epoch_of(f, l)
      & brokers[f].log_end >= brokers[l].high_watermark
      & high_watermark_in_own_epoch(l)
    ==>
    begin
      brokers[l].isr[f] := true;
      quorum.isr := brokers[l].isr;
    end;

    rule "follower replicates"
      in_epoch_of(f, l) & brokers[f].log_end < brokers[l].log_end
    ==>
    begin
      brokers[f].log[brokers[f].log_end] := brokers[l].log[brokers[f].log_end];
      brokers[f].log_end := brokers[f].log_end + 1;
      brokers[f].high_watermark :=
        brokers[l].high_watermark < brokers[f].log_end ? brokers[l].high_watermark : brokers[f].log_end;
    end;
  end;
end;


-- Initial state --------------------------------------------------------------------------------------------------

startstate
begin
  undefine requests;
  undefine brokers;
  next_epoch := 0;
  next_record := 0;
  undefine quorum.leader;
  for r: Replica do
    quorum.isr[r] := true;
    brokers[r].log_end := 0;
    brokers[r].high_watermark := 0;
    brokers[r].leader_epoch := NO_EPOCH;
    for member: Replica do brokers[r].isr[member] := false; end;
  end;
end;


-- Invariants -----------------------------------------------------------------------------------------------------

function agree_below_high_watermark(r: Replica; member: Replica): boolean;
begin
  return forall offset: Offset do
    offset < brokers[r].high_watermark -> same_record(r, member, offset)
  end;
end;

invariant "LeaderInIsr"
  isundefined(quorum.leader) | quorum.isr[quorum.leader];

-- Whoever presumes leadership agrees below its high watermark with every member of the ISR that it believes in.
invariant "WeakIsr"
  forall r: Replica do
    presumes_leadership(r) -> forall member: Replica do
      brokers[r].isr[member] -> agree_below_high_watermark(r, member)
    end
  end;

-- The same, over the ISR that the controller holds.
invariant "StrongIsr"
  forall r: Replica do
    presumes_leadership(r) -> forall member: Replica do
      quorum.isr[member] -> agree_below_high_watermark(r, member)
    end
  end;
