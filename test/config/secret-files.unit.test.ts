// Secrets that come from a file, without its last line break.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { makeDirectory } from '../support/directory.ts';

test.each([
  ['ALERT_WEBHOOK_URL', 'https://hooks.slack.com/services/T0/B0/the-token'],
  ['SMTP_URL', 'smtps://mirror%40example.com:the-password@mail.example.com'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-token=s3cret'],
  ['STATUS_PASSWORD', 'opens the page'],
  ['STATUS_PII_PASSWORD', 'opens-with-people'],
])('%s_FILE is read like %s, and not where both are set', async (name, secret) => {
  const path = join(await makeDirectory(), 'secret');
  await writeFile(path, `${secret}\n`);
  const others = {
    ALERT_EMAIL: 'ops@example.com',
    SMTP_URL: 'smtp://localhost',
    OTEL_TRACES_EXPORTER: 'otlp',
  };
  const read = (more: object) => readConfig({ ...others, ...more });
  const bare = name === 'SMTP_URL' ? { SMTP_URL: '' } : {};
  expect(read({ ...bare, [`${name}_FILE`]: path })).toEqual(read({ [name]: secret }));
  expect(read({ [name]: secret })).not.toEqual(read({}));
  expect(() => read({ [name]: secret, [`${name}_FILE`]: path })).toThrow('are both set: keep one of them');
  expect(() => read({ ...bare, [`${name}_FILE`]: '/nowhere/x' })).toThrow(
    `${name}_FILE names /nowhere/x, which cannot be read (ENOENT: no such file or directory`,
  );
});
