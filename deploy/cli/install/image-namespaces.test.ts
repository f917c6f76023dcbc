import { expect, test } from 'vitest';
import inspectSource from '../../../functions/inspect-source/index.ts';
import { permissionManifests } from '../../../knative/permissions.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { policyRef } from '../../../shared/policy.ts';
import { memoryKube } from '../../../test/support/harness/memory-kube.ts';
import { bindingsInImageNamespaces } from './image-namespaces.ts';
import { ConfigMap, Namespace } from './kinds.ts';

const wanted = permissionManifests([inspectSource as never]) as unknown as KubernetesObject[];

test('what reads Secrets of images is bound in each namespace of images, and in no other', async () => {
  const kube = memoryKube();
  const lines: string[] = [];
  for (const name of ['golden', 'lab']) await kube.create(Namespace, { metadata: { name } });
  await kube.create(ConfigMap, { metadata: policyRef, data: { imageNamespaces: 'golden\nto-come' } });
  const bindings = await bindingsInImageNamespaces({ kube, say: (line) => void lines.push(line) }, wanted);
  expect(bindings).toMatchObject([
    {
      kind: 'RoleBinding',
      metadata: {
        name: 'inspect-source',
        namespace: 'golden',
        labels: { 'app.kubernetes.io/part-of': 'ot-functions' },
      },
      roleRef: { kind: 'ClusterRole', name: 'sync-operator-inspect-source-in-images' },
      subjects: [{ kind: 'ServiceAccount', name: 'inspect-source', namespace: 'sync-operator' }],
    },
  ]);
  const role = wanted.find(({ metadata }) => metadata.name === 'sync-operator-inspect-source-in-images');
  expect(role).toMatchObject({
    kind: 'ClusterRole',
    rules: [{ resources: ['secrets'] }, { resources: ['configmaps'] }],
  });
  expect(lines).toEqual([expect.stringMatching(/^namespace to-come .* does not exist yet/)]);
});
