// The collector of traces, from the standard variables of OpenTelemetry. Without them there are no traces.

import { z } from 'zod';
import { readSecretText } from '../read-secret-text.ts';
import { reading, readUrl } from '../reading.ts';
import { optional, type Values } from '../variable.ts';

export interface TracingSettings {
  readonly url: string;
  /** Often secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the process, its service's name among them. */
  readonly resource: Readonly<Record<string, string>>;
}

type TracingVariables = Values<typeof TRACING_VARIABLES>;

/** Source: the OTLP exporter's specification, Configuration Options. */
const DEFAULT_ENDPOINT = 'http://localhost:4318';
const DEFAULT_NAME = 'affiliate-mirror';

/** Without credentials, since the address is printed. */
const endpointSchema = reading((text, refuse) => {
  const url = readUrl(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return refuse('must be an address such as http://localhost:4318');
  if (url.username !== '' || url.password !== '')
    return refuse('must not hold credentials: put them into OTEL_EXPORTER_OTLP_HEADERS');
  return url.href;
});

const PAIRS_WANTED = 'must be name=value, with commas between several and values percent-encoded';

const pairsSchema = reading((text, refuse) => readPairs(text) ?? refuse(PAIRS_WANTED));

/** Returns the settings; null without traces. Problems are added to `problems`. */
export function readTracing(variables: TracingVariables, problems: string[]): TracingSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = variables;
  const headers = readHeaders(variables, problems);
  if (variables.OTEL_TRACES_EXPORTER === 'none') return null;
  if (base === undefined && traces === undefined && variables.OTEL_TRACES_EXPORTER === undefined) return null;
  const { OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_SERVICE_NAME: name } = variables;
  return {
    url: traces ?? tracesBelow(base ?? DEFAULT_ENDPOINT),
    headers,
    resource: { 'service.name': DEFAULT_NAME, ...attributes, ...(name && { 'service.name': name }) },
  };
}

/** Returns the base address with the path of traces, before its query. */
function tracesBelow(base: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

function readHeaders(variables: TracingVariables, problems: string[]): Readonly<Record<string, string>> {
  const { OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_HEADERS_FILE } = variables;
  const given = { OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_HEADERS_FILE };
  const headers = readSecretText('OTEL_EXPORTER_OTLP_HEADERS', given, problems);
  return headers === null ? {} : checkHeaders(headers.text.trim(), headers.from, problems);
}

// The message does not quote the headers: they are secrets.
function checkHeaders(text: string, name: string, problems: string[]): Readonly<Record<string, string>> {
  const headers = readPairs(text);
  if (headers !== null && isSendable(headers)) return headers;
  problems.push(`${name} ${PAIRS_WANTED}`);
  return {};
}

function isSendable(headers: Readonly<Record<string, string>>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

function readPairs(text: string): Record<string, string> | null {
  const pairs: [string, string][] = [];
  for (const pair of text.split(',').map((one) => one.trim())) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    if (name === '') return null;
    try {
      pairs.push([name, decodeURIComponent(pair.slice(at + 1).trim())]);
    } catch {
      return null;
    }
  }
  return Object.fromEntries(pairs);
}

/** The variables of this part, as variables.ts lists them. */
export const TRACING_VARIABLES = {
  OTEL_TRACES_EXPORTER: optional(
    'what to do with traces: `otlp` or `none`',
    z.enum(['otlp', 'none'], 'must be otlp or none'),
    '`otlp` if an endpoint is set',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    'address of the collector, without `/v1/traces`; set, it turns traces on',
    endpointSchema,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional('the whole address for traces, in its place', endpointSchema),
  OTEL_EXPORTER_OTLP_PROTOCOL: optional(
    '`http/json`; with `http/protobuf`, too, JSON is sent',
    z.enum(['http/json', 'http/protobuf'], 'must be http/json: gRPC is not spoken, use the port for HTTP'),
    '`http/json`',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(
    'headers for the collector: `name=value`, with commas between them; a secret',
    z.string(),
  ),
  OTEL_EXPORTER_OTLP_HEADERS_FILE: optional('a file that holds them', z.string()),
  OTEL_SERVICE_NAME: optional('what the traces call this service', z.string(), `\`${DEFAULT_NAME}\``),
  OTEL_RESOURCE_ATTRIBUTES: optional(
    'more about it, such as `deployment.environment.name=production`',
    pairsSchema,
  ),
};
