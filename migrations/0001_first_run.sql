-- What one run needs to be recorded: DESIGN.md section 9 as far as the assembly line goes.
-- Every table's primary key is made of the workflow's own ids, so that a retried activity writes the same row.

create table runs (
  id text primary key,
  -- First execution id of the runSpec workflow: the same id started anew is another run and is refused.
  execution text,
  name text not null,
  spec jsonb not null,
  phase text not null,
  paused boolean not null default false,
  base_commit text,
  image_digest text,
  started_at timestamptz not null,
  ended_at timestamptz,
  outcome text,
  report jsonb,
  -- What the run waits for (a person, usually); null when it waits for nobody.
  details jsonb,
  updated_at timestamptz not null default now()
);
create index runs_open on runs (started_at) where ended_at is null;

create table tasks (
  run text not null references runs (id) on delete cascade,
  id text not null,
  version integer not null default 1,
  index integer not null,
  spec jsonb not null,
  kind text not null,
  depends_on text[] not null,
  state text not null default 'pending',
  -- Workflow time of the newest state written, in ms: an activity that comes late cannot overwrite a newer state.
  state_at_ms bigint not null default 0,
  wave integer,
  round integer not null default 1,
  attempts integer not null default 0,
  waiting_on text,
  waiting_since timestamptz,
  waiting_why text,
  why text,
  commit text,
  updated_at timestamptz not null default now(),
  primary key (run, id)
);
create index tasks_by_state on tasks (run, state);

create table attempts (
  run text not null references runs (id) on delete cascade,
  task text not null,
  attempt integer not null,
  round integer not null default 1,
  host text,
  phase text not null default 'agent' check (phase in ('agent', 'gate', 'merge', 'done')),
  base text,
  commit text,
  agent_result jsonb,
  outcome text,
  why text,
  started_at timestamptz not null,
  agent_started_at timestamptz,
  agent_ms bigint,
  gate_ms bigint,
  queued_ms bigint,
  merged_at timestamptz,
  landed_at timestamptz,
  ended_at timestamptz,
  failure_artifact text,
  primary key (run, task, attempt)
);
create index attempts_open on attempts (run) where ended_at is null;

create table gate_runs (
  run text not null references runs (id) on delete cascade,
  key text not null,
  level text not null,
  commit text not null,
  tree text,
  result jsonb not null,
  at timestamptz not null default now(),
  primary key (run, key, level, commit)
);

create table gate_results (
  run text not null references runs (id) on delete cascade,
  key text not null,
  level text not null,
  commit text not null,
  tree text,
  step text not null,
  position integer not null,
  ok boolean not null,
  "end" text not null,
  exit_code integer,
  ms bigint not null,
  failures text[] not null,
  flaky boolean not null,
  waived boolean not null default false,
  tail text not null,
  artifact text,
  at timestamptz not null default now(),
  primary key (run, key, level, commit, step)
);
create index gate_results_by_tree on gate_results (run, tree, step);

create table merges (
  run text not null references runs (id) on delete cascade,
  request text not null,
  task text not null,
  attempt integer not null,
  commit text,
  state text not null check (state in ('queued', 'merged', 'verified', 'green', 'conflict', 'refused', 'ejected', 'withdrawn')),
  state_at_ms bigint not null default 0,
  requested_at timestamptz not null,
  merged_at timestamptz,
  verified_at timestamptz,
  why text,
  primary key (run, request)
);
create index merges_waiting on merges (run, requested_at) where state in ('queued', 'merged');

create table green_points (
  run text not null references runs (id) on delete cascade,
  n integer not null,
  commit text not null,
  wave integer,
  at timestamptz not null,
  primary key (run, n)
);

create table artifacts (
  run text not null references runs (id) on delete cascade,
  -- '' and 0: of the run itself (baseline, mainline and wave gates).
  task text not null default '',
  attempt integer not null default 0,
  name text not null,
  content text not null,
  -- Size of the whole before it was cut.
  bytes bigint not null,
  truncated boolean not null,
  created_at timestamptz not null default now(),
  primary key (run, task, attempt, name)
);

create table hosts (
  id text primary key,
  seen_at timestamptz not null,
  slots integer not null,
  running integer not null
);

create table log_entries (
  run text not null references runs (id) on delete cascade,
  -- Idempotency: the caller's name for this entry within the run.
  key text not null,
  at timestamptz not null,
  kind text not null,
  task text,
  message text not null,
  data jsonb,
  primary key (run, key)
);
create index log_entries_by_time on log_entries (run, at);
