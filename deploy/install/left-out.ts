import { partLabel } from '../../knative/manifest.ts';
import type { Part } from '../../shared/function.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, ApiServerSource, formatObject, Trigger } from './kinds.ts';
import { servedAt } from './requirement.ts';

/** What a cluster may do without, and what of ours is of no use then. */
export interface Platform {
  name: string;
  part: Part;
  group: string;
  version: string;
  /** The plurals of the kinds that we need of it. */
  kinds: readonly string[];
  leftOut: string;
}

/**
 * Without KubeVirt the source of its kinds would end at once, and the function that makes machines could only fail, with the
 * right to write Secrets everywhere.
 */
export const kubeVirt: Platform = {
  name: 'KubeVirt',
  part: 'kubevirt',
  group: 'kubevirt.io',
  version: 'v1',
  kinds: ['virtualmachines', 'virtualmachineinstances'],
  leftOut: 'machines are left out',
};

/** Without kube-ovn the source of its kinds would end at once; whoever composes workspaces does without it, over bridges. */
export const kubeOvn: Platform = {
  name: 'kube-ovn',
  part: 'kube-ovn',
  group: 'kubeovn.io',
  version: 'v1',
  kinds: ['subnets', 'vpcs'],
  leftOut: 'workspaces have their networks over bridges',
};

/** True where its kinds are served. */
export async function isServed(cluster: Cluster, { kinds, group, version }: Platform): Promise<boolean> {
  const served = await Promise.all(kinds.map((plural) => servedAt(cluster, `${plural}.${group}`, version)));
  return served.every((definition) => definition !== undefined);
}

/** True for a manifest that is of no use without the platform. */
export const isOf =
  ({ part }: Platform) =>
  ({ metadata }: KubernetesObject) =>
    metadata.labels?.[partLabel] === part;

/** What of the manifests this cluster can run; says what it leaves out, and what brings it in. */
export async function runnable(cluster: Cluster, wanted: readonly AnyObject[]): Promise<AnyObject[]> {
  let kept = [...wanted];
  for (const platform of [kubeVirt, kubeOvn]) {
    const leftOut = wanted.filter(isOf(platform));
    if (leftOut.length === 0 || (await isServed(cluster, platform))) continue;
    const named = leftOut
      .filter(({ kind }) => kind === ApiServerSource.kind || kind === Trigger.kind)
      .map(formatObject);
    cluster.say(
      `${platform.name} is not there: ${platform.leftOut} (left out: ${named.join(', ')}); npm run cluster -- upgrade brings it in once it is`,
    );
    kept = kept.filter((object) => !leftOut.includes(object));
  }
  return kept;
}
