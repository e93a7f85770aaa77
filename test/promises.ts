// The tests that show what two pages promise: for each row of their tables, by the beginning of its first cell, the file
// below test/ and words of the test's title. docs.unit.test.ts holds both sides: no row without a test, no test that is
// not there. A reader of the pages needs the promise; a maintainer who changes one finds its test here.

/** Of docs/operations.md, "What is promised when things break". */
export const PROMISES: Readonly<Record<string, readonly string[]>> = {
  'A process is killed': [
    'worker/queue/recovery.long: a run in the middle, on %s',
    'end-to-end/interrupted-sync: leaves all of a batch or nothing',
    'end-to-end/killed-workers.long: on %s, workers killed',
  ],
  'Any process is stopped at any moment': [
    'end-to-end/freezes.long: processes that are stopped at random moments do no harm',
    'db/transact: every connection gives up its transaction when its process is stopped for seconds',
  ],
  'A process that writes payments is stopped': [
    'payments/write/frozen-writer: stopped $stopped, a writer overwrites nothing when it wakes',
  ],
  'A process is stopped between its permit and its request': [
    'budget/frozen-permit: is not used when the process wakes after its time',
  ],
  'The API says RateLimit-Limit': [
    'budget/answered-limits: a limit that is said once',
    'budget/answered-limits: after a 429',
  ],
  'Headers of a larger or longer quota': [
    'budget/answered-limits: a quota that is larger or longer than ours',
  ],
  'The clock of a machine is wrong': [
    "end-to-end/worker-start.long: whose clock is %s the database's does not start",
    'worker/queue/wrong-clock.long: a worker whose clock jumps a day ahead',
  ],
  'Postgres goes away while a worker starts': [
    'end-to-end/worker-start.long: whose Postgres goes away at message %i of its start',
  ],
  'The disk of Postgres is full': ['end-to-end/refusing-database: A full disk'],
  'An open transaction holds a lock on a table of the mirror': [
    'end-to-end/locked-table.long: %j says who holds it',
  ],
  'The API sends a record that is nested without end': [
    'sync/hostile-records: a record nested %i levels deep',
    'sync/hostile-records: a number that JavaScript does not have',
  ],
  'The API sends a record without a usable identifier': [
    'sync/full-sync: loads the rest of a page that holds a record without a usable identifier',
  ],
  'Something nested in a commission cannot be stored': [
    'payments/write/refused-rows: a row that the mirror cannot hold',
  ],
  'The API echoes the secret': [
    'api/secret: is in no error or log line when $status echoes it',
    'sync/hostile-records: the API secret is not stored',
  ],
  'A killed sync is started again': [
    'sync/full-sync: goes on from its checkpoint',
    'end-to-end/resumed-sync: a sync that is resumed an hour later exits 3',
  ],
  "The API's answers contradict each other": [
    'crawl/every-walk-ends.unit: a crawl of a program that contradicts itself',
  ],
  'The API writes identifiers in capitals': [
    'sync/identifiers-in-capitals: records with identifiers %s are the rows that they were, and none is deleted',
  ],
  'A cache in front of the API answers reads from its store': [
    'sync/stored-pages: a list that is an hour old',
    'payments/write/stored-readings: a reading that is an hour old',
  ],
  'Something in front of the API refuses one commission': [
    'payments/write/foreign-refusals: that stays ends its payment as failed in the end',
  ],
  'The database refuses a row': [
    'sync/refused-records: a record that is refused with SQLSTATE',
    'payments/write/refused-rows: a row that the mirror cannot hold',
  ],
  'The payment ledger refuses a line': [
    'payments/write/refused-lines: waits with its reason and is overtaken',
  ],
  'A DBA adds a constraint that waiting requests do not meet': [
    'payments/write/refused-requests: stays pending, and the 10 others end as applied',
  ],
};

/** Of every table of cases in docs/deployment.md. */
export const DEPLOYMENT_CASES: Readonly<Record<string, readonly string[]>> = {
  'A Unix socket': ['end-to-end/database-addresses.long: A Unix socket'],
  'An address without a user': ['end-to-end/database-addresses.long: An address without a user'],
  'Several hosts': ['config/database-url.unit: Several hosts'],
  'parameters of other programs are left alone': [
    'config/database-url.unit: parameters of other programs are left alone',
  ],
  'No sslmode: not encrypted': ['end-to-end/database-addresses.long: No sslmode: not encrypted'],
  'sslmode=require': ['end-to-end/database-addresses.long: sslmode=require: encrypted'],
  'sslmode=require with a CA': ['end-to-end/database-addresses.long: sslmode=require with a CA'],
  'sslmode=verify-ca': ['end-to-end/database-addresses.long: sslmode=verify-ca'],
  'sslmode=verify-full': ['end-to-end/database-addresses.long: sslmode=verify-full'],
  'A CA alone: verify-full': ['end-to-end/database-addresses.long: A CA alone: verify-full'],
  'sslrootcert=system: the CAs of the machine': [
    'end-to-end/database-addresses.long: sslrootcert=system: the CAs of the machine',
  ],
  'sslnegotiation=direct': ['end-to-end/database-addresses.long: sslnegotiation=direct'],
  'A private CA, not named or wrong': ['end-to-end/database-addresses.long: A private CA that is not named'],
  'A certificate of another host': ['end-to-end/database-addresses.long: A certificate of another host'],
  'A server that takes only encrypted connections': [
    'end-to-end/database-addresses.long: A server that takes only encrypted connections',
  ],
  'A server that asks for a certificate of the client': [
    'end-to-end/database-addresses.long: A server that asks for a certificate of the client',
  ],
  'A server that does not encrypt': ['end-to-end/database-addresses.long: A server that does not encrypt'],
  'PgBouncer in session mode': ['end-to-end/pooler.long: PgBouncer in session mode'],
  'PgBouncer that shares connections out': ['end-to-end/pooler.long: PgBouncer that shares connections out'],
  'Defaults of the role or the database': ['db/connect/session: Defaults of the role or the database'],
  'synchronous_commit = off': ['payments/ask/crashed-postgres: Where commits do not wait'],
  'A DBA makes the schemas, and grants nothing on the database': [
    'end-to-end/grants: A DBA makes the schemas, and grants nothing on the database',
  ],
  'PUBLIC, a group or default privileges have everything': [
    'reports/rights-by-another-way: is granted nothing',
  ],
  'A role without grants': ['end-to-end/grants: A role without grants'],
  'A right that is taken away': ['end-to-end/grants: A right that is taken away'],
  'Row level security': ['end-to-end/row-level-security: Row level security'],
  'A standby': ['end-to-end/refusing-database: A standby'],
  'A connection limit': ['end-to-end/refusing-database: A connection limit'],
  'a password': ['worker/queue/redis-deployments.long: a password'],
  'a user of its own (ACL)': ['worker/queue/redis-deployments.long: the documentation lists'],
  TLS: ['worker/queue/redis-deployments.long: with a private authority'],
  'TLS with a certificate of ours': ['worker/queue/redis-deployments.long: a certificate of ours works'],
  'maxmemory-policy other than noeviction': ['worker/queue/redis-deployments.long: may throw keys away'],
  'Redis goes away later': ['end-to-end/worker: Redis is away'],
  'a proxy': ['end-to-end/networks.long: names the proxy'],
  'hosts without the proxy': ['api/proxy.long: NO_PROXY names'],
  'the proxy refuses, is down, breaks off before the tunnel is open, or never answers': [
    'api/proxy.long: was not sent',
  ],
  'the proxy breaks off after the request went through': ['api/proxy.long: breaks after'],
  'NODE_TLS_REJECT_UNAUTHORIZED=0': ['end-to-end/mistakes: no certificate is checked'],
  "the API's certificate is signed by a private authority": ['end-to-end/networks.long: a private authority'],
  'The image': ['deploy/image.long: under any user'],
  'The status page of the image': ['deploy/image.long: with a status page'],
  Compose: ['deploy/compose.unit: without the address'],
  Kubernetes: ['deploy/kubernetes: every object'],
  systemd: ['deploy/schedulers.long: systemd finds'],
  cron: ['deploy/schedulers.long: each line'],
  Airflow: ['deploy/schedulers.long: Python reads'],
  'Prometheus scrapes a worker': ['deploy/prometheus.long: scrapes a worker'],
  'SIGTERM, SIGHUP, Ctrl-C': ['end-to-end/signals.long: ends cleanly when'],
  'a supervisor': ['end-to-end/signals.long: src/main.ts'],
  SIGUSR1: ['end-to-end/signals.long: SIGUSR1'],
  'nohup node … work &, setsid node … work': ['end-to-end/signals.long: goes on when'],
  'Debian without libatomic1': ['embedded-postgres/accounts.long: names the package'],
  'npm ci --ignore-scripts': ['embedded-postgres/accounts.long: makes the links'],
  'a user without an entry in /etc/passwd': ['embedded-postgres/accounts.long: a user without a name'],
  'STATUS_HOST that others can reach, without a password': [
    'config/status-page.unit: a page at %s needs one',
  ],
  'STATUS_PORT is taken': ['web/health: taken is reported'],
};
