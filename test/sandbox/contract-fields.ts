// The tables of docs/api-contract.md, read as they stand there: the sandbox is compared with the document, not with the
// code that reads it.

import { readTable } from '../support/read-docs.ts';

/** The type of each field, in the document's words. */
type Shape = ReadonlyMap<string, string>;

function shapeOf(resource: string): Shape {
  const rows = readTable('docs/api-contract.md', resource, ['Type', 'Fields']);
  return new Map(
    rows.flatMap(([type = '', fields = '']) => fields.split(', ').map((field) => [field, type])),
  );
}

function pagination(): Shape {
  const rows = readTable('docs/api-contract.md', 'Pagination envelope', ['Field', 'Type', 'Meaning']);
  return new Map(rows.map(([field = '', type = '']) => [field, type]));
}

const SHAPES: Readonly<Record<string, Shape>> = {
  Campaign: shapeOf('Campaign'),
  Customer: shapeOf('Customer'),
  Link: shapeOf('Link'),
  Affiliate: shapeOf('Affiliate'),
  Referral: shapeOf('Referral'),
  Sale: shapeOf('Sale'),
  Commission: shapeOf('Commission'),
  Payout: shapeOf('Payouts'),
  Pagination: pagination(),
};

const isText = (value: unknown) => typeof value === 'string';
const matches = (pattern: RegExp) => (value: unknown) => isText(value) && pattern.test(value as string);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isText,
  'string (UUID)': matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  'string (ISO 8601)': matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  'string (URL)': (value) => isText(value) && URL.canParse(value as string),
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** Contract, States and transitions. */
const CONVERSION_STATES: readonly unknown[] = ['lead', 'conversion'];

/** What an item of a list has beyond its table (with its type), or lacks (null). */
export type Change = Readonly<Record<string, string | null>>;

/** Returns every place where the value is not of the type that the document names. */
export function departuresFrom(type: string, value: unknown, path: string, change: Change = {}): string[] {
  if (type.endsWith(' or null')) {
    return value === null ? [] : departuresFrom(type.replace(' or null', ''), value, path, change);
  }
  if (type.startsWith('array of ')) {
    if (!Array.isArray(value)) return [`${path} is no array`];
    const item = type.replace('array of ', '');
    return value.flatMap((each, index) => departuresFrom(item, each, `${path}[${index}]`, change));
  }
  const shape = SHAPES[type.replace(' object', '')];
  if (shape !== undefined) return departuresFromShape(shape, value, path, change);
  const isOfType = TYPES[type];
  if (isOfType === undefined) return [`${path} is of an unknown type, ${type}`];
  return isOfType(value) ? [] : [`${path} is ${JSON.stringify(value)}, no ${type}`];
}

function departuresFromShape(shape: Shape, value: unknown, path: string, change: Change): string[] {
  if (TYPES['object']?.(value) !== true) return [`${path} is ${JSON.stringify(value)}, no object`];
  const fields = value as Record<string, unknown>;
  const expected = new Map<string, string | null>([...shape, ...Object.entries(change)]);
  const wrong = [...expected].flatMap(([name, type]) => {
    const place = `${path}.${name}`;
    if (type === null) return name in fields ? [`${place} is there`] : [];
    return name in fields ? departuresFrom(type, fields[name], place) : [`${place} is missing`];
  });
  const unknown = Object.keys(fields).filter((name) => !expected.has(name));
  const state = fields['conversion_state'];
  return [
    ...wrong,
    ...unknown.map((name) => `${path}.${name} is unknown`),
    ...(state === undefined || CONVERSION_STATES.includes(state) ? [] : [`${path} is a ${state}`]),
  ];
}
