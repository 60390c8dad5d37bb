-- Model calls that wait at a gateway, as it last said: they are in its memory, and a person asks on another machine.
create table calls_waiting (
  host text not null,
  run text not null references runs (id) on delete cascade,
  task text not null,
  -- For a place, the key's rate, the budget.
  refusal text not null,
  calls integer not null,
  -- The longest of them has waited since.
  since timestamptz not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (host, run, task, refusal)
);
