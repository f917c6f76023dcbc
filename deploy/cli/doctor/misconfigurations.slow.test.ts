import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, vi } from 'vitest';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { declareMisconfigurations, type Installed } from '../../../test/support/tools/declare-misconfigurations.ts';
import { type LocalCluster, startLocal } from '../../local/start.ts';
import { applyManifests, generatedFolders, readManifests } from '../../manifests.ts';
import { clusterOf } from '../install/connect.ts';
import { Namespace } from '../install/kinds.ts';

vi.setConfig({ testTimeout: 60_000 });

let local: LocalCluster;
let installed: Installed;
beforeAll(async () => {
  local = await startLocal({ gracePeriodMs: 0 });
  const config = new KubeConfig();
  config.loadFromString(local.server.kubeconfig());
  const { kube } = local;
  installed = {
    cluster: clusterOf(config, { say: () => undefined, timeoutMs: 0 }),
    knative: kube,
    manifests: await readManifests('crds', ...generatedFolders),
    putBack: (objects) => applyManifests(kube, objects),
    withinMs: 15_000,
  };
  if (!(await kube.get(Namespace, { name: 'vmdi-farm' })))
    await kube.create(Namespace, { metadata: { name: 'vmdi-farm' } });
  const reader = { namespace: 'vmdi-farm', name: 's3-reader' };
  if (!(await kube.get(Secret, reader))) await kube.create(Secret, { metadata: reader, data: {} });
}, 60_000);
afterAll(() => local.close());

declareMisconfigurations('local', () => installed);
