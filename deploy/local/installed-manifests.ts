import { createHash } from 'node:crypto';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { applyManifests, manifestKey } from '../manifests.ts';

/** Where a kept cluster notes which manifests it was given, and as what. */
const record = { namespace: 'kube-system', name: 'installed-manifests' };

/**
 * Applies the manifests that are new or other than when this cluster was last given them, so that what its users have
 * changed since, by an edit of the policy for instance, outlives a restart.
 */
export async function applyChangedManifests(kube: Kube, objects: readonly KubernetesObject[]): Promise<void> {
  const installed = await installedIn(kube);
  const changed = objects.filter((object) => installed[manifestKey(object)] !== digestOf(object));
  if (changed.length === 0) return;
  await applyManifests(kube, changed);
  const now = { ...installed, ...Object.fromEntries(changed.map((object) => [manifestKey(object), digestOf(object)])) };
  const { apiVersion, kind } = ConfigMap;
  const noted = { apiVersion, kind, metadata: record, data: { digests: JSON.stringify(now) } };
  await kube.apply(ConfigMap, noted, { fieldManager: 'ot-install', force: true });
}

async function installedIn(kube: Kube): Promise<Record<string, string>> {
  const found = await kube.get(ConfigMap, record);
  try {
    return JSON.parse(found?.data?.digests ?? '{}') as Record<string, string>;
  } catch {
    // A user has edited it: all are applied again.
    return {};
  }
}

const digestOf = (object: KubernetesObject) =>
  createHash('sha256').update(JSON.stringify(object)).digest('base64url').slice(0, 16);
