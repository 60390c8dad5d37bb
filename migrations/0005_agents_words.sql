-- What agents say beside their work, and what they are told: DESIGN.md section 9. Acted upon elsewhere; here it is kept.
create table decisions (
  run text not null references runs (id) on delete cascade,
  id text not null,
  subject text not null,
  text text not null,
  interfaces text[] not null,
  -- '<task>/<attempt>', or 'planner'.
  owner text not null,
  superseded_by text,
  at timestamptz not null default now(),
  primary key (run, id)
);

create table flags (
  run text not null references runs (id) on delete cascade,
  path text not null,
  task text not null,
  attempt integer not null,
  why text not null,
  at timestamptz not null default now(),
  primary key (run, path, task, attempt)
);

create table scope_requests (
  run text not null references runs (id) on delete cascade,
  key text not null,
  task text not null,
  attempt integer not null,
  paths text[] not null,
  note text not null,
  state text not null default 'open' check (state in ('open', 'granted', 'refused', 'task')),
  -- Who decided, and why.
  answer text,
  at timestamptz not null default now(),
  primary key (run, key)
);

create table notices (
  run text not null references runs (id) on delete cascade,
  task text not null,
  commit text not null,
  by_task text not null,
  files text[] not null,
  at timestamptz not null default now(),
  delivered_at timestamptz,
  primary key (run, task, commit)
);
create index notices_unread on notices (run, task) where delivered_at is null;
