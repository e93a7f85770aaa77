// Certificates for tests of TLS, made by openssl: of an authority, and of servers and clients that it vouches for.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';

export interface Authority {
  /** Its certificate, in PEM form. */
  readonly path: string;
  /** Returns the paths of a certificate for that name, and of its key. */
  issue(name: string, subjectAltName?: string): { certificate: string; key: string };
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout'];

/** Returns a new authority, with its files in the directory. */
export function makeAuthority(directory: string, name: string): Authority {
  const file = (ending: string) => join(directory, `${name}.${ending}`);
  const subject = ['-subj', `/CN=${name}`];
  openssl(['req', '-x509', '-days', '1', ...NEW_KEY, file('key'), '-out', file('pem'), ...subject]);
  return {
    path: file('pem'),
    issue(host, subjectAltName) {
      const part = (ending: string) => join(directory, `${name}-${host}.${ending}`);
      writeFileSync(part('ext'), subjectAltName === undefined ? '' : `subjectAltName=${subjectAltName}\n`);
      openssl(['req', ...NEW_KEY, part('key'), '-out', part('csr'), '-subj', `/CN=${host}`]);
      openssl([
        ...['x509', '-req', '-days', '1', '-in', part('csr'), '-CA', file('pem'), '-CAkey', file('key')],
        ...['-CAcreateserial', '-extfile', part('ext'), '-out', part('pem')],
      ]);
      return { certificate: part('pem'), key: part('key') };
    },
  };
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

/** Returns the file's text. */
export const readPem = (path: string): string => readFileSync(path, 'utf8');

export interface Certificates {
  /** Files in PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** The same certificate and key, as a server takes them. */
  readonly server: { readonly cert: Buffer; readonly key: Buffer };
}

/** Returns certificates for 127.0.0.1, localhost and `program.test`, until the test file ends. */
export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'affiliate-mirror-tls-'));
  afterFile(() => rmSync(directory, { recursive: true, force: true }));
  const { path: ca, issue } = makeAuthority(directory, 'authority');
  const names = 'IP:127.0.0.1,DNS:localhost,DNS:program.test';
  const { certificate: cert, key } = issue('this-machine', names);
  return { ca, cert, key, server: { cert: readFileSync(cert), key: readFileSync(key) } };
}
