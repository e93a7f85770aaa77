-- Why: an incremental export has to know how far the last one to the same target came, and the worker which scheduled
-- exports were done. Kept here and not in the target's manifests: who loads an export may move or delete it afterwards,
-- and an access key that may only write is enough so.
-- Lock taken: none on anything that exists (a new table). Breaking: no.

create table exports (
  target      text not null,
  object      text not null,
  kind        text not null check (kind in ('whole', 'changes')),
  watermark   timestamptz,
  rows        bigint not null,
  location    text,
  began_at    timestamptz not null,
  exported_at timestamptz not null default clock_timestamp(),
  primary key (target, object, kind)
);

comment on table exports is 'The last export of each table or view to each target, by the worker''s schedule or with --incremental. Nothing for analysis.';
comment on column exports.target is 'The directory, or the bucket with its prefix and its service.';
comment on column exports.object is 'The table or view, as it was named.';
comment on column exports.kind is 'whole: every row; changes: the rows that changed since the export before it.';
comment on column exports.watermark is 'Of changes: the highest _changed_at that was exported. The next export goes on from there. Delete the row to export everything once more. Null where there was no row.';
comment on column exports.rows is 'How many rows the last export that wrote something had.';
comment on column exports.location is 'Where that export is; null where there was never anything to write.';
comment on column exports.began_at is 'When the last export began: it has whatever was there by then.';
comment on column exports.exported_at is 'When the last export ended, also one that had nothing to write.';
