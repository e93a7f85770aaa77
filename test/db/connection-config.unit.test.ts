// What an address says of encryption, as it is to psql.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { connectionConfig } from '../../src/db/connection-config.ts';

const sslOf = (parameters: string) => connectionConfig(`postgres://u:p@db.example.com/d?${parameters}`).ssl;

function writeAuthority(): string {
  const directory = mkdtempSync(join(tmpdir(), 'affiliate-mirror-ca-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'ca.pem');
  writeFileSync(path, getCACertificates('bundled')[0] ?? '');
  return path;
}

test('require alone checks no certificate; with an authority it checks the chain, and not the name', () => {
  expect(sslOf('sslmode=require')).toEqual({ rejectUnauthorized: false });
  for (const mode of ['require', 'verify-ca']) {
    expect(sslOf(`sslmode=${mode}&sslrootcert=${writeAuthority()}`), mode).toEqual({
      rejectUnauthorized: true,
      ca: expect.stringContaining('BEGIN CERTIFICATE'),
      checkServerIdentity: expect.any(Function),
    });
  }
});

test('verify-full checks the name too, and so does an authority without a mode', () => {
  for (const mode of ['sslmode=verify-full&', '']) {
    const ssl = sslOf(`${mode}sslrootcert=${writeAuthority()}`);
    expect(ssl, mode).toMatchObject({ rejectUnauthorized: true });
    expect(ssl, mode).not.toHaveProperty('checkServerIdentity');
  }
});
