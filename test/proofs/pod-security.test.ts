import { glob, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { operatorNamespace } from '../../shared/operator.ts';

/** What Kubernetes' Pod Security Standard "restricted" asks of a container; a Pod may say the last two for all of its. */
const Restricted = z.looseObject({
  securityContext: z.looseObject({
    privileged: z.literal(false).optional(),
    allowPrivilegeEscalation: z.literal(false),
    capabilities: z.looseObject({
      drop: z.array(z.string()).refine((all) => all.includes('ALL')),
      add: z.array(z.literal('NET_BIND_SERVICE')).optional(),
    }),
    runAsNonRoot: z.literal(true),
    runAsUser: z.number().positive().optional(),
    seccompProfile: z.looseObject({ type: z.enum(['RuntimeDefault', 'Localhost']) }),
  }),
  ports: z.array(z.looseObject({ hostPort: z.undefined().optional() })).optional(),
});
const volumeKinds = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const RestrictedPod = z.looseObject({
  hostNetwork: z.literal(false).optional(),
  hostPID: z.literal(false).optional(),
  hostIPC: z.literal(false).optional(),
  containers: z.array(Restricted),
  initContainers: z.array(Restricted).optional(),
  volumes: z.array(z.partialRecord(z.enum(['name', ...volumeKinds]), z.unknown())).optional(),
});

interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: { template?: { spec?: object } };
}
const files = await Array.fromAsync(
  glob(['knative/**/*.yaml', 'deploy/**/*.yaml'], { exclude: ['**/chart/**', '**/node_modules/**'] }),
);
const manifests = (
  await Promise.all(
    files.map(async (path) =>
      parseAllDocuments(await readFile(path, 'utf8')).map((document) => ({ path, ...(document.toJS() as Manifest) })),
    ),
  )
).flat();

const namespaces = manifests.filter(
  ({ kind, metadata }) => kind === 'Namespace' && metadata.name === operatorNamespace,
);
test.each(namespaces)('$path has Kubernetes refuse other Pods in the namespace of the functions', ({ metadata }) => {
  expect(metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
});

describe('the Pods in it meet that standard', () => {
  const ours = manifests.filter(
    ({ metadata, spec }) => metadata?.namespace === operatorNamespace && spec?.template?.spec !== undefined,
  );
  test('of which there are some', () => {
    expect(namespaces.length).toBeGreaterThan(1);
    expect(new Set(ours.map(({ metadata }) => metadata.name)).size).toBeGreaterThan(12);
  });
  test.each(ours)('$path $metadata.name', ({ spec }) => {
    expect(RestrictedPod.safeParse(spec?.template?.spec).error?.issues ?? []).toEqual([]);
  });
});
