-- When an attempt whose gate was green asked to be merged: what the queue's length and the age of its oldest request are told by.
alter table attempts add column requested_at timestamptz;
create index attempts_queued on attempts (run, requested_at) where phase = 'merge' and merged_at is null;
