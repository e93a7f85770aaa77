// The secrets of a sandbox's programs, to tell a request with another program's secret from one with a wrong secret.

export interface Secrets {
  /** Replaces the program's secret. The former one is still known as the program's own, and refused. */
  set(program: string, secret: string): void;
  /**
   * Returns whose secret the Authorization header holds: that of the program, of another program, or of none. The
   * password must be empty or left out with its colon.
   */
  judge(program: string, header: string | undefined): 'own' | 'another' | 'unknown';
}

export function makeSecrets(): Secrets {
  const current = new Map<string, string>();
  const owners = new Map<string, string>();
  return {
    set(program, secret) {
      current.set(program, secret);
      owners.set(secret, program);
    },
    judge(program, header) {
      const credentials = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header ?? '')?.[1];
      if (credentials === undefined) return 'unknown';
      const given = Buffer.from(credentials, 'base64').toString('utf8');
      const secrets = [given, given.replace(/:$/, '')];
      if (secrets.some((secret) => secret === current.get(program))) return 'own';
      const owner = secrets.map((secret) => owners.get(secret)).find((found) => found !== undefined);
      return owner === undefined || owner === program ? 'unknown' : 'another';
    },
  };
}
