-- What agents asked models, and what it cost: the record from which limits, budgets and bills are read.
create table model_calls (
  id text primary key,
  run text not null references runs (id) on delete cascade,
  -- '' and 0: of the run itself (planners).
  task text not null,
  attempt integer not null,
  role text not null,
  upstream text not null,
  model text not null,
  host text not null,
  state text not null default 'open' check (state in ('open', 'done', 'failed', 'aborted', 'lost')),
  reserved_microusd bigint not null,
  reserved_tokens bigint not null,
  input_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  microusd bigint not null default 0,
  -- The provider never said what it counted; the figures are ours.
  estimated boolean not null default false,
  status integer,
  retries integer not null default 0,
  waited_ms bigint not null default 0,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);
create index model_calls_by_attempt on model_calls (run, task, attempt);
create index model_calls_by_time on model_calls (upstream, started_at);
create index model_calls_open on model_calls (host) where state = 'open';

-- Sums of model_calls, kept in the same transactions, so that a reservation does not add up a run's whole history.
create table spend (
  run text not null references runs (id) on delete cascade,
  -- 'run', 'role:<role>' or 'task:<task>'.
  scope text not null,
  -- Of calls that have ended.
  microusd bigint not null default 0,
  tokens bigint not null default 0,
  -- Of calls under way.
  open integer not null default 0,
  reserved_microusd bigint not null default 0,
  reserved_tokens bigint not null default 0,
  primary key (run, scope)
);

-- The budget as a person has raised it; null: as the spec says.
alter table runs add column budget jsonb;
