// `npm run pack`: makes the npm package in dist/.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makePackage } from './make-package.ts';

const DIST = join(import.meta.dirname, '../../dist');

await makePackage(join(DIST, 'package'));
const { status } = spawnSync('npm', ['pack', './package', '--pack-destination', '.'], {
  cwd: DIST,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
