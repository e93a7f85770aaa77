// nginx and Caddy in front of a status page, with the very lines that the documentation gives for them. They end with
// the test.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { makeDirectory } from './directory.ts';
import { BLOCKS } from './read-docs.ts';
import { findFreePort } from './redis.ts';

export const PROXIES = ['nginx', 'Caddy'] as const;
export type ProxyName = (typeof PROXIES)[number];

const PAGE = 'docs/status-page.md';
/** Where the documentation has the status page. */
const DOCUMENTED = '127.0.0.1:8080';

/** Returns the proxy's own address, without a path. */
export async function startReverseProxy(proxy: ProxyName, statusPage: string): Promise<string> {
  const block = BLOCKS.find(({ page, before }) => page === PAGE && before === `${proxy}:`);
  if (!block?.text.includes(DOCUMENTED)) throw new Error(`${PAGE} needs a block for ${proxy}`);
  const lines = block.text.replace(DOCUMENTED, new URL(statusPage).host);
  const directory = await makeDirectory();
  const port = await findFreePort();
  const { file, command } = CONFIGURE[proxy](lines, port, directory);
  const path = join(directory, 'configuration');
  await writeFile(path, file);
  const [executable = '', ...args] = command(path);
  const child = spawn(executable, args, {
    env: { HOME: directory, PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const ended = once(child, 'exit').catch(() => {
    said = `${executable} is missing: "node test/provision.ts --long" installs it, or says how to`;
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  const failed = ended.then(() => Promise.reject(new Error(`${proxy} ended: ${said}`)));
  await Promise.race([expect.poll(isUp).toBe(true), failed]);
  return url;
}

interface Configured {
  readonly file: string;
  readonly command: (path: string) => readonly string[];
}

/** Around the documented lines: what makes it a server of a test's own, without rights, certificates and logs. */
const CONFIGURE: Record<ProxyName, (lines: string, port: number, directory: string) => Configured> = {
  nginx: (lines, port, directory) => ({
    file: `daemon off;
pid ${directory}/pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  server {
    listen 127.0.0.1:${port};
${lines}
  }
}
`,
    command: (path) => ['/usr/sbin/nginx', '-e', 'stderr', '-c', path],
  }),
  Caddy: (lines, port) => ({
    file: `{
  admin off
  auto_https off
}
${lines.replace('mirror.example.com', `http://127.0.0.1:${port}`)}`,
    command: (path) => ['/usr/bin/caddy', 'run', '--adapter', 'caddyfile', '--config', path],
  }),
};
