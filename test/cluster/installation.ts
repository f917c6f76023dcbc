import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kubectl, kubectlOrFail } from './kubectl.ts';

/** How the functions run: as Knative Services that sleep, or as Deployments. */
export type Overlay = 'serving' | 'deployments';

const operator = ['--namespace', 'sync-operator'];
const serverSide = ['apply', '--server-side', '--force-conflicts'];
const path = (from: string) => fileURLToPath(new URL(from, import.meta.url));

/** Where the definitions of CDI and of the snapshotter are; those of the project's own local cluster where nobody names others. */
const foreignDefinitions = process.env.OT_FOREIGN_CRDS ?? path('../../deploy/local/crds');

/** Applies definitions, policy and the manifests of an overlay, and waits until an event would reach every function. */
export async function install(overlay: Overlay): Promise<void> {
  await kubectlOrFail(...serverSide, '-f', foreignDefinitions, '-f', path('../../crds/vmdiskimages.yaml'));
  await kubectlOrFail('wait', '--for=condition=Established', 'customresourcedefinitions', '--all', '--timeout=60s');
  await kubectlOrFail(...serverSide, '-f', path('../../deploy/base'), '-f', path('../../deploy/local/base'));
  await kubectlOrFail(...serverSide, '-k', path(`overlays/${overlay}`));
  const ready = (kinds: string, condition = 'Ready') =>
    kubectlOrFail('wait', ...operator, `--for=condition=${condition}`, kinds, '--all', '--timeout=180s');
  await (overlay === 'serving' ? ready('services.serving.knative.dev') : ready('deployments', 'Available'));
  await Promise.all(['brokers', 'triggers', 'apiserversources', 'pingsources'].map((kinds) => ready(kinds)));
}

/** Takes the functions of an overlay away, and leaves definitions, permissions and Triggers where they are. */
export async function removeFunctions(overlay: Overlay): Promise<void> {
  const kinds = overlay === 'serving' ? ['services.serving.knative.dev'] : ['deployments', 'services'];
  for (const kind of kinds) {
    await kubectlOrFail('delete', kind, ...operator, '-l', 'app.kubernetes.io/part-of=ot-functions', '--wait=true');
  }
}
