// How S3-compatible storage is reached: the usual variables of Amazon's own tools.

export interface S3Access {
  /** Of the service, without the bucket and a final slash. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of a temporary access key; null for a lasting one. */
  readonly sessionToken: string | null;
}

export interface S3Variables {
  readonly AWS_ACCESS_KEY_ID?: string | undefined;
  readonly AWS_SECRET_ACCESS_KEY?: string | undefined;
  readonly AWS_SESSION_TOKEN?: string | undefined;
  readonly AWS_REGION: string;
  readonly AWS_ENDPOINT_URL?: string | undefined;
}

/** Returns how the storage is reached; null where there is no access key. What is wrong is added to `problems`. */
export function readS3Access(variables: S3Variables, problems: string[]): S3Access | null {
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
    sessionToken: variables.AWS_SESSION_TOKEN?.trim() ?? null,
  };
}
