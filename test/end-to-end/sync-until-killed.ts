// A process that runs one sync and kills itself, without any warning, right after Postgres has answered its n-th
// statement. Started by killed-syncs.ts; ends by itself where there are fewer statements.

import { syncUntilFault } from './sync-until-fault.ts';

await syncUntilFault(JSON.parse(process.argv[2] ?? ''), async () => {
  process.kill(process.pid, 'SIGKILL');
});
