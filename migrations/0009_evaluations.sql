-- Scores of green points by a suite that no agent sees (policy.evaluate).
create table evaluations (
  run text not null references runs (id) on delete cascade,
  -- The green point; 0 is the base commit.
  n integer not null,
  commit text not null,
  -- The command ended by itself and gave a score.
  ok boolean not null,
  score double precision,
  ms bigint not null,
  tail text not null,
  at timestamptz not null default now(),
  primary key (run, n)
);
