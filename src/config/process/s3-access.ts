// Access to S3-compatible storage, by the variables of Amazon's own tools.

import { z } from 'zod';
import { optional, type Values, variable } from '../variable.ts';

export interface S3Access {
  /** Without the bucket and a final slash. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Returns the access; null without an access key. Problems are added to `problems`. */
export function readS3Access(variables: Values<typeof S3_VARIABLES>, problems: string[]): S3Access | null {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_REGION: region,
  } = variables;
  if (accessKeyId === undefined && secretAccessKey === undefined) return null;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const lacking = accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    problems.push(`${lacking} is not set: the access key of the storage has two parts`);
    return null;
  }
  const endpoint = variables.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`;
  return {
    endpoint,
    region,
    accessKeyId: accessKeyId.trim(),
    secretAccessKey: secretAccessKey.trim(),
  };
}

const serviceUrl = z
  .string()
  .regex(
    /^https?:\/\/[^/?#@\s]+\/*$/,
    'must be an address such as https://storage.example.com, without a path',
  )
  .transform((text) => text.replace(/\/+$/, ''));

/** The variables of this part, as variables.ts lists them. */
export const S3_VARIABLES = {
  AWS_ACCESS_KEY_ID: optional('access key of the storage that exports go to', z.string()),
  AWS_SECRET_ACCESS_KEY: optional('its secret part', z.string()),
  AWS_REGION: variable(
    'region of the bucket',
    z.string().regex(/^[\w-]+$/, 'must be a region, such as eu-central-1'),
    'us-east-1',
  ),
  AWS_ENDPOINT_URL: optional(
    'address of an S3-compatible service, without the bucket',
    serviceUrl,
    "Amazon's",
  ),
};
