import type { KubernetesObject } from '../../shared/resources/resource.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, ApiServerSource, sayObject, Trigger } from './kinds.ts';
import { servedAt } from './requirement.ts';
import { workersOn } from './workers.ts';

const group = 'kubevirt.io';

/** What machines are made of and followed by. */
export const kubeVirtKinds = ['virtualmachines', 'virtualmachineinstances'] as const;

/** True where KubeVirt's kinds are served. */
export async function isKubeVirtServed(cluster: Cluster): Promise<boolean> {
  const served = await Promise.all(kubeVirtKinds.map((plural) => servedAt(cluster, `${plural}.${group}`, 'v1')));
  return served.every((definition) => definition !== undefined);
}

/** Those of the manifests that are there for who works with KubeVirt's kinds. */
export const kubeVirtParts = <T extends KubernetesObject>(manifests: readonly T[]) => workersOn(group, manifests);

/**
 * What of the manifests this cluster can run: without KubeVirt the source of its kinds would end at once, and the function
 * that makes machines could only fail, with the right to write Secrets everywhere.
 */
export async function runnable(cluster: Cluster, wanted: readonly AnyObject[]): Promise<AnyObject[]> {
  const leftOut = kubeVirtParts(wanted);
  if (leftOut.size === 0 || (await isKubeVirtServed(cluster))) return [...wanted];
  const named = [...leftOut]
    .filter(({ kind }) => kind === ApiServerSource.kind || kind === Trigger.kind)
    .map(sayObject);
  cluster.say(
    `KubeVirt is not there: machines are left out (${named.join(', ')}); npm run cluster -- upgrade brings them in`,
  );
  return wanted.filter((object) => !leftOut.has(object));
}
