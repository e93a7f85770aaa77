import { expect, test } from 'vitest';
import { describeProxy } from '../../src/cli/doctor/network.ts';

const PROXY = 'http://127.0.0.1:9';

const describeWith = (exceptions: string) => describeProxy({ url: PROXY, exceptions });

test.each([
  '',
  'localhost, .internal.example	*.corp.example',
  '10.0.0.5:8443 other_host',
  '*',
  'example.com.',
  '::1,[fd00::1]:8443',
])('nothing is said of NO_PROXY=%s', (exceptions) => {
  expect(describeWith(exceptions)).not.toContain('NO_PROXY');
});

test.each(['10.0.0.0/8', '10.*', 'https://internal.example', '<local>', 'münchen.example'])(
  'NO_PROXY=%s is said to have no effect',
  (entry) => {
    expect(describeWith(`localhost,${entry},127.0.0.1`)).toContain(
      `; NO_PROXY names ${entry} without effect: `,
    );
  },
);
