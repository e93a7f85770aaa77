// The manifests for Kubernetes are ones that its API accepts, and name what the program has.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { ConfigMap } from 'kubernetes-types/core/v1.js';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readPrograms } from '../../src/config/programs-file.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { TIMINGS } from '../../src/worker/queue/timings.ts';

const ROOT = join(import.meta.dirname, '../..');
const readObjects = (file: string) =>
  parseAllDocuments(readFileSync(join(ROOT, 'docs/deploy', file), 'utf8')).map((document) => document.toJS());
const OBJECTS = readObjects('kubernetes.yaml');

/** Where Kubernetes' own types have the kinds that the manifest uses. */
const GROUPS = {
  Secret: 'core/v1',
  ConfigMap: 'core/v1',
  Job: 'batch/v1',
  Deployment: 'apps/v1',
} as const;

function find<T>(kind: string, objects = OBJECTS): T {
  return objects.find((object) => object.kind === kind);
}

/** Returns what the compiler says of the objects, each held to the type of its kind: no field more, none less. */
function typeCheck(objects: readonly { readonly kind: string }[]): string {
  // Beside the types' package, or the compiler would not find it.
  const directory = mkdtempSync(join(ROOT, 'node_modules/.kubernetes-'));
  try {
    const lines = objects.map(({ kind, ...rest }, index) => {
      const group = GROUPS[kind as keyof typeof GROUPS];
      const type = `import('kubernetes-types/${group}.js').${kind}`;
      return `export const object${index}: ${type} = ${JSON.stringify({ kind, ...rest })};\n`;
    });
    writeFileSync(join(directory, 'objects.ts'), lines.join(''));
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
    ];
    execFileSync('tsc', [...options, join(directory, 'objects.ts')], { encoding: 'utf8' });
    return '';
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('every object has the fields that its kind has, and no other', () => {
  expect(OBJECTS.map(({ kind }) => kind)).toEqual(['Secret', 'ConfigMap', 'Job', 'Deployment']);
  expect(typeCheck(OBJECTS)).toBe('');
});

test('every variable is one of the program', () => {
  const names = Object.keys(find<ConfigMap>('ConfigMap').data ?? {});
  expect(VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

test('the status page is seen from outside of the pod, with a password from a file that the pod has', () => {
  const { STATUS_HOST, STATUS_PASSWORD_FILE = '' } = find<ConfigMap>('ConfigMap').data ?? {};
  expect(STATUS_HOST).toBe('0.0.0.0');
  const pod = find<Deployment>('Deployment').spec?.template.spec;
  const { mountPath = '' } = pod?.containers[0]?.volumeMounts?.[0] ?? {};
  const files = pod?.volumes?.[0]?.secret?.items ?? [];
  expect(files.map(({ path }) => `${mountPath}/${path}`)).toContain(STATUS_PASSWORD_FILE);
  const keys = Object.keys(find<{ stringData: object }>('Secret').stringData);
  expect(keys).toEqual(expect.arrayContaining(files.map(({ key }) => key)));
});

test('the worker has longer to stop than it takes, and no right that it does not need', () => {
  const pod = find<Deployment>('Deployment').spec?.template.spec;
  expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(TIMINGS.stopDeadlineMs / 1000);
  expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true });
  expect(pod?.containers[0]).toMatchObject({
    args: ['work'],
    livenessProbe: { httpGet: { path: '/healthz' } },
    readinessProbe: { httpGet: { path: '/readyz' } },
    securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  });
});

test('the job that migrates has the settings and the files of the workers: they say how the mirror is made', () => {
  const [job, workers] = [find<Job>('Job'), find<Deployment>('Deployment')].map(
    (object) => object.spec?.template.spec,
  );
  const [migrate, work] = [job, workers].map((pod) => pod?.containers[0]);
  expect(migrate?.envFrom).toEqual(work?.envFrom);
  expect(migrate?.env).toEqual(work?.env);
  expect(migrate?.volumeMounts).toEqual(work?.volumeMounts);
  expect(job?.volumes).toEqual(workers?.volumes);
});

describe('of many programs', () => {
  const objects = readObjects('kubernetes-programs.yaml');
  const pod = find<Deployment>('Deployment', objects).spec?.template.spec;
  const [worker] = pod?.containers ?? [];
  const env = new Map(worker?.env?.map(({ name, value }) => [name, value]));
  const pathOf = (volume: string) =>
    worker?.volumeMounts?.find(({ name }) => name === volume)?.mountPath ?? '';

  test('every object has the fields that its kind has, and no other', () => {
    expect(objects.map(({ kind }) => kind)).toEqual(['Secret', 'ConfigMap', 'Deployment']);
    expect(typeCheck(objects)).toBe('');
  });

  test('every variable is one of the program, and the tables are made with those of the worker', () => {
    expect(VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining([...env.keys()]));
    const [migrate] = pod?.initContainers ?? [];
    expect(migrate).toMatchObject({
      args: ['migrate'],
      env: worker?.env,
      volumeMounts: worker?.volumeMounts,
    });
  });

  test('the list is one that a worker takes, with a secret for each program', () => {
    const secrets = Object.keys(find<{ stringData: object }>('Secret', objects).stringData);
    const directory = mkdtempSync(join(tmpdir(), 'kubernetes-'));
    for (const key of secrets) writeFileSync(join(directory, key), key, { mode: 0o600 });
    const [[name = '', text = ''] = []] = Object.entries(find<ConfigMap>('ConfigMap', objects).data ?? {});
    expect(env.get('PROGRAMS_FILE')).toBe(`${pathOf('programs')}/${name}`);
    const file = join(directory, name);
    writeFileSync(file, text.replaceAll(pathOf('secrets'), directory));
    const programs = readPrograms({ PROGRAMS_FILE: file });
    expect(programs?.map((program) => program.name)).toEqual(['acme', 'beta-eu']);
    rmSync(directory, { recursive: true });
  });
});
