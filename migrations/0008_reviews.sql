-- Reviews and their findings, attempts of a merger, and which of several agents of one role asked a model.
create table reviews (
  run text not null references runs (id) on delete cascade,
  task text not null,
  attempt integer not null,
  -- Its place in the list of the spec.
  reviewer integer not null,
  view text not null,
  engine text not null,
  model text,
  -- Times that it was called; each may ask it several times for an answer that can be read.
  calls integer not null,
  -- null: it gave none that can be read.
  verdict text check (verdict in ('approve', 'reject')),
  -- What it says in short, or why there is no verdict.
  why text not null,
  ms bigint not null,
  at timestamptz not null default now(),
  primary key (run, task, attempt, reviewer)
);

create table findings (
  run text not null,
  task text not null,
  attempt integer not null,
  reviewer integer not null,
  n integer not null,
  severity text not null check (severity in ('blocking', 'major', 'minor')),
  file text,
  line integer,
  text text not null,
  -- A later attempt changed what it names.
  followed boolean not null default false,
  -- A person's word.
  said text check (said in ('right', 'wrong')),
  primary key (run, task, attempt, reviewer, n),
  foreign key (run, task, attempt, reviewer) references reviews (run, task, attempt, reviewer) on delete cascade
);

create table merger_attempts (
  run text not null references runs (id) on delete cascade,
  task text not null,
  attempt integer not null,
  -- The attempt of the same task whose work did not merge.
  of_attempt integer not null,
  paths text[] not null,
  -- Requests on the line that changed these paths.
  merges text[] not null,
  at timestamptz not null default now(),
  primary key (run, task, attempt)
);

-- Tells several agents of one role and attempt apart.
alter table model_calls add column seat text not null default '';
