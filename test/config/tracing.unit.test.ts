// Where traces go, by the standard variables.

import { expect, test } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { readConfig } from '../../src/config/config.ts';

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
  ['no exporter is wanted', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
])('nowhere where %s', (_, environment) => {
  expect(readConfig(environment).process.tracing).toBeNull();
});

test.each([
  [ENDPOINT, 'https://otel.example:4318/base/v1/traces'],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel/in?to=x/' }, 'http://otel/in/v1/traces?to=x/'],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/t' }, 'http://other/t'],
])('%o is %s', (environment, url) => {
  expect(readConfig(environment).process.tracing?.url).toBe(url);
});

test("names and headers are percent-decoded, and the service's name has its own variable", () => {
  const environment = {
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb, x-scope = one ',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=of the resource,team=a%3Db',
  };
  expect(readConfig(environment).process.tracing).toMatchObject({
    headers: { authorization: 'Bearer a,b', 'x-scope': 'one' },
    resource: { 'service.name': 'of the resource', team: 'a=b' },
  });
  const named = readConfig({ ...environment, OTEL_SERVICE_NAME: 'named' }).process.tracing;
  expect(named?.resource['service.name']).toBe('named');
  expect(readConfig(ENDPOINT).process.tracing?.resource).toEqual({ 'service.name': 'affiliate-mirror' });
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
  [{ OTEL_EXPORTER_OTLP_HEADERS: 's3cret' }, PAIRS],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'x=s3cret%0Aset-cookie' }, PAIRS],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'team' }, PAIRS],
])('%o is one problem, which quotes no secret', (environment, problem) => {
  const [name] = Object.keys(environment);
  expect(problemsOf(environment)).toEqual([`${name} ${problem}`]);
  expect(problem).not.toContain('s3cret');
});
