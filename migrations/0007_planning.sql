-- The tree of planners and what each of their answers came to: DESIGN.md section 4 (planNode).
create table plan_nodes (
  run text not null references runs (id) on delete cascade,
  -- Of its scope; '' is the first planner.
  id text not null,
  parent text,
  depth integer not null,
  goal text not null default '',
  interface text not null default '',
  files text[] not null,
  -- Tasks and scopes that must have landed before planning starts there.
  depends_on text[] not null default '{}',
  -- It said that nothing more is to be planned there.
  done boolean not null default false,
  -- Tasks that a test runs for real, by its answers.
  integrated text[] not null default '{}',
  at timestamptz not null default now(),
  primary key (run, id)
);

create table plan_answers (
  run text not null references runs (id) on delete cascade,
  node text not null,
  -- Counts over all calls of the planner.
  attempt integer not null,
  occasion text not null,
  -- What it said, whole; null: it came to no answer.
  answer text,
  -- Every problem; null: not judged yet. [] is an answer that was taken.
  problems jsonb,
  -- What taking it came to: the same again when it is taken twice.
  result jsonb,
  at timestamptz not null default now(),
  primary key (run, node, attempt)
);

-- Which planner planned it; null: the spec, or a person.
alter table tasks add column node text;
-- Judged by its own criteria, in an empty repository.
alter table tasks add column scaffold boolean not null default false;
-- What the plan is worth, as last scored.
alter table runs add column plan_score jsonb;
