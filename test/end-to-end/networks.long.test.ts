// The command line in a company's network: a proxy from the environment, and certificates of a private authority.

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { makeCertificates } from '../support/certificates.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCliAlone } from '../support/run-cli.ts';

const certificates = makeCertificates();

// The sandbox behind TLS, at a name that only the proxy can resolve, or at an address.
const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool);
const { port } = new URL(sandbox.url);
const front = createServer(certificates.server, (near) => {
  const far = connect(Number(port), '127.0.0.1');
  near.on('error', () => far.destroy()).pipe(far);
  far.on('error', () => near.destroy()).pipe(near);
}).listen(0, '127.0.0.1');
await once(front, 'listening');
const url = `https://127.0.0.1:${(front.address() as AddressInfo).port}`;
afterAll(async () => {
  front.close();
});

/** Returns what doctor says of the program. */
async function examine(environment: Readonly<Record<string, string>>): Promise<string> {
  const { stdout, stderr } = await runCliAlone(['doctor'], {
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: url,
    AFFILIATE_API_SECRET: SECRET,
    ...environment,
  });
  expect(stdout + stderr).not.toContain('proxy-password');
  return stdout.split('\n').find((line) => /^. program:/.test(line)) ?? '';
}

test('a certificate of a private authority is refused, until a variable of Node names the authority', async () => {
  expect(await examine({})).toMatch(/^✗ program: .*from no trusted authority .* NODE_EXTRA_CA_CERTS$/);
  const accepted = `✓ program: ${url} accepts the secret`;
  expect(await examine({ NODE_EXTRA_CA_CERTS: certificates.ca })).toContain(accepted);
  // OpenSSL's own variable stands for the system's store here, which a test must not change.
  const system = { NODE_OPTIONS: '--use-system-ca', SSL_CERT_FILE: certificates.ca };
  expect(await examine(system)).toContain(accepted);
});

test.each(['HTTPS_PROXY', 'HTTP_PROXY'])(
  '%s names the proxy, which alone has to know the host',
  async (name) => {
    const proxy = await startConnectProxy({ login: 'clerk:proxy-password' });
    const program = url.replace('127.0.0.1', 'program.test');
    const environment = { AFFILIATE_API_URL: program, NODE_EXTRA_CA_CERTS: certificates.ca };
    const address = proxy.url.replace('http://', 'clerk:proxy-password@');
    expect(await examine({ ...environment, [name]: address })).toContain(
      `✓ program: ${program} accepts the secret`,
    );
    expect(new Set(proxy.asked)).toEqual(new Set([new URL(program).host]));
  },
);
