-- Workflow time of the newest phase, wait and pause written, in ms: an activity that comes late cannot overwrite a newer state.
alter table runs add column state_at_ms bigint not null default 0;
