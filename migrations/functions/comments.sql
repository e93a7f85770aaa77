-- The comments of the reports: a column that is the mirror's own has the mirror's comment.

create or replace function copy_comments(shown text, source text, masked text[] default '{}', asked text default null)
returns void
language plpgsql
set search_path from current
as $$
declare
  copied record;
  words text;
begin
  for copied in
    select original.attname as name, col_description(original.attrelid, original.attnum) as words
    from pg_attribute original
    join pg_attribute attribute using (attname)
    where original.attrelid = source::regclass and original.attnum > 0
      and attribute.attrelid = format(':"reports".%I', shown)::regclass
  loop
    words := copied.words;
    -- The keys in the form of that schema.
    if copied.name = 'id' or (shown, copied.name) = ('commission_ledger', 'request') then
      words := regexp_replace(words, ' \(\w+\.\w+\)', '') || ' Primary key.';
    elsif words ~ '\(\w+\.id\)' then
      words := regexp_replace(words, ' \(\w+\.id\)', '') || ' Refers to '
        || replace(substring(words from '\((\w+\.id)\)'), 'sync_runs.', 'run_log.') || '.';
    elsif copied.name = '_changed_at' then
      words := 'When the mirror last wrote a change of the content. To load what changed, read the table of the same name: this view has no deleted rows.';
    end if;
    if copied.name = any (masked) then
      words := words || format(' Personal data: null unless you may read the table %s.', coalesce(asked, source));
    end if;
    execute format('comment on column :"reports".%I.%I is %L', shown, copied.name, words);
  end loop;
end
$$;
comment on function copy_comments(text, text, text[], text) is 'Gives the columns of a view of the reports the comments of the mirror''s table or view; masked ones say which table one must be allowed to read. Called by migrate.';
