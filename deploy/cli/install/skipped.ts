import type { Part } from '../../../shared/function.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { partLabel } from '../../../shared/operator.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, ApiServerSource, formatObject, Trigger } from './kinds.ts';
import { servedAt } from './requirement.ts';

/** A platform that a cluster can lack, and what is left out without it. */
interface Platform {
  name: string;
  part: Part;
  group: string;
  version: string;
  /** The plurals of the kinds that we use. */
  kinds: readonly string[];
  consequence: string;
}

/**
 * Without KubeVirt the source of its kinds would exit, and provision-vm could only fail, with permission to write Secrets in every
 * namespace.
 */
export const kubeVirt: Platform = {
  name: 'KubeVirt',
  part: 'kubevirt',
  group: 'kubevirt.io',
  version: 'v1',
  kinds: ['virtualmachines', 'virtualmachineinstances'],
  consequence: 'machines are left out',
};

/** Without kube-ovn the source of its kinds would exit; compose-workspace then uses bridges. */
export const kubeOvn: Platform = {
  name: 'kube-ovn',
  part: 'kube-ovn',
  group: 'kubeovn.io',
  version: 'v1',
  kinds: ['subnets', 'vpcs'],
  consequence: 'networks of workspaces are bridges',
};

export async function isServed(cluster: Cluster, { kinds, group, version }: Platform): Promise<boolean> {
  const served = await Promise.all(kinds.map((plural) => servedAt(cluster, `${plural}.${group}`, version)));
  return served.every((definition) => definition !== undefined);
}

/** True for a manifest that belongs to the platform's part. */
export const isOf =
  ({ part }: Platform) =>
  ({ metadata }: KubernetesObject) =>
    metadata.labels?.[partLabel] === part;

/** The manifests that this cluster can run. Prints what is left out, and how to add it later. */
export async function runnable(cluster: Cluster, wanted: readonly AnyObject[]): Promise<AnyObject[]> {
  let kept = [...wanted];
  for (const platform of [kubeVirt, kubeOvn]) {
    const skipped = wanted.filter(isOf(platform));
    if (skipped.length === 0 || (await isServed(cluster, platform))) continue;
    const named = skipped
      .filter(({ kind }) => kind === ApiServerSource.kind || kind === Trigger.kind)
      .map(formatObject);
    cluster.say(
      `${platform.name} is missing: ${platform.consequence} (left out: ${named.join(', ')}); install it, then ot-functions upgrade adds them`,
    );
    kept = kept.filter((object) => !skipped.includes(object));
  }
  return kept;
}
