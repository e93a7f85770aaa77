"""Syncs the affiliate program every night and every quarter of an hour, under Airflow 2.7 or newer.

The exit codes are those of docs/data-engineer.md: 0 is a verified mirror, 4 a sync that was left to another one, such as
a delta while the nightly sync still runs: its task is skipped. Airflow's own retries are off, since
`affiliate-mirror sync` retries what can pass, and a run that failed is resumed by the next one.

The variables AFFILIATE_API_URL, AFFILIATE_API_SECRET_FILE and DATABASE_URL belong in the worker's environment.
"""

from datetime import datetime, timedelta, timezone

from airflow import DAG
from airflow.operators.bash import BashOperator


def sync_dag(dag_id: str, schedule: str, mode: str, longest: timedelta) -> DAG:
    """Returns a DAG of one task, which does not run twice at once."""
    with DAG(
        dag_id=dag_id,
        schedule=schedule,
        start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
        # A sync reads what is there now: a missed hour needs no run of its own.
        catchup=False,
        max_active_runs=1,
        tags=["affiliate-mirror"],
    ) as dag:
        BashOperator(
            task_id="sync",
            # exec: Airflow's signal reaches affiliate-mirror, which then commits what it has read.
            bash_command=f"exec affiliate-mirror sync --mode {mode} --json",
            append_env=True,
            retries=0,
            skip_on_exit_code=4,
            execution_timeout=longest,
        )
    return dag


full = sync_dag("affiliate_mirror_full", "0 2 * * *", "full", timedelta(hours=4))
delta = sync_dag("affiliate_mirror_delta", "*/15 * * * *", "delta", timedelta(minutes=30))
