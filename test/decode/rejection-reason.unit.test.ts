import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseJson } from '../../src/contract/parse-json.ts';
import { describeIssues } from '../../src/decode/rejection-reason.ts';

test.each([
  ['{"visits": "jane"}', 'visits: expected number, got string'],
  ['{"visits": null}', 'visits: expected number, got null'],
  ['{"visits": 1e400}', 'visits: expected number, got a number that is too large'],
  ['{}', 'visits: expected number, got nothing'],
])('of %s, a reason names the field and the type of what came, and quotes nothing', (json, reason) => {
  const record = parseJson(json);
  const checked = z.object({ visits: z.number() }).safeParse(record);
  expect(describeIssues(checked.error?.issues ?? [], record, '')).toBe(reason);
});
