// Where traces go, by the standard variables.

import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/errors.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example:4318/base/' };

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test.each([
  ['nothing is set', {}],
  ['only a name is', { OTEL_SERVICE_NAME: 'x', OTEL_RESOURCE_ATTRIBUTES: 'a=b' }],
  ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
  [
    'the SDK is disabled, and the others are meant for other programs',
    {
      OTEL_SDK_DISABLED: 'TRUE',
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'otel:4317',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: '/none',
    },
  ],
  ['no exporter is wanted', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
])('nowhere where %s', (_, environment) => {
  expect(readConfig(environment).tracing).toBeNull();
});

test.each([
  [ENDPOINT, 'https://otel.example:4318/base/v1/traces'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel/in?to=x/' }, 'http://otel/in/v1/traces?to=x/'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/t' }, 'http://other/t'],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'False' }, 'https://otel.example:4318/base/v1/traces'],
])('%o is %s', (environment, url) => {
  expect(readConfig(environment).tracing?.url).toBe(url);
});

test("names and headers are percent-decoded, and the service's name has its own variable", () => {
  const environment = {
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb, x-scope = one ',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=of the resource,team=a%3Db',
  };
  expect(readConfig(environment).tracing).toMatchObject({
    headers: { authorization: 'Bearer a,b', 'x-scope': 'one' },
    resource: { 'service.name': 'of the resource', team: 'a=b' },
  });
  const named = readConfig({ ...environment, OTEL_SERVICE_NAME: 'named' }).tracing;
  expect(named?.resource['service.name']).toBe('named');
  expect(readConfig(ENDPOINT).tracing?.resource).toEqual({ 'service.name': 'affiliate-mirror' });
});

test('headers may come from a file', () => {
  const path = join(tmpdir(), `otlp-headers-${process.pid}`);
  writeFileSync(path, 'x-token=s3cret\n');
  onTestFinished(() => rmSync(path));
  const config = readConfig({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS_FILE: path });
  expect(config.tracing?.headers).toEqual({ 'x-token': 's3cret' });
});

const PAIRS = 'must be name=value, with commas between several and values percent-encoded';

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'otel:4318' }, 'must be an address such as http://localhost:4318'],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://me:s3cret@otel' },
    'must not hold credentials: put them into OTEL_EXPORTER_OTLP_HEADERS',
  ],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be http/json: gRPC is not spoken, use the port for HTTP'],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'must be otlp or none'],
  [{ OTEL_SDK_DISABLED: 'yes' }, 'must be true or false'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 's3cret' }, PAIRS],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'x y=s3cret' }, PAIRS],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'x=s3cret%0Aset-cookie' }, PAIRS],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'x=s3cret%' }, PAIRS],
  [
    { OTEL_EXPORTER_OTLP_HEADERS_FILE: '/none' },
    "names /none, which cannot be read (ENOENT: no such file or directory, open '/none')",
  ],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'team' }, PAIRS],
])('%o is one problem, which quotes no secret', (environment, problem) => {
  const [name] = Object.keys(environment);
  expect(problemsOf(environment)).toEqual([`${name} ${problem}`]);
  expect(problem).not.toContain('s3cret');
});

test('headers from both places are refused', () => {
  expect(problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b', OTEL_EXPORTER_OTLP_HEADERS_FILE: '/none' })).toEqual(
    ['OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_HEADERS_FILE are both set: keep one of them'],
  );
});
