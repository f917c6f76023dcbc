import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { fieldManager } from './command.ts';

/**
 * Writes keys of the policy (null removes a key) and annotations. Fails with a 409 if another user wrote the ConfigMap since it was read.
 */
export async function writePolicy(
  kube: Kube,
  before: ConfigMap | undefined,
  data: Readonly<Record<string, string | null>>,
  annotations: Readonly<Record<string, string | null>> = {},
): Promise<void> {
  if (!before) {
    const present = (all: Readonly<Record<string, string | null>>) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const metadata = { ...policyRef, annotations: present(annotations) };
    await kube.create(ConfigMap, { metadata, data: present(data) }, fieldManager);
    return;
  }
  const { uid, resourceVersion } = before.metadata;
  await kube.patch(ConfigMap, policyRef, { metadata: { uid, resourceVersion, annotations }, data }, { fieldManager });
}
