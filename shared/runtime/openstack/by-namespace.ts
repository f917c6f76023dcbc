import type { Context } from '../../function.ts';
import { allowedBy } from '../../images/sources.ts';
import type { KubernetesObject } from '../../kinds/resource.ts';
import type { CloudFault } from '../../openstack/status.ts';
import { operatorNamespace } from '../../operator.ts';
import { isValid, type Policy } from '../../policy.ts';
import { readPolicy } from '../read-policy.ts';
import { type Cloud, isFault, refusedReading } from './clouds.ts';

/**
 * What a function sees of some objects on OpenStack: the OpenStack of each namespace is read once for all objects in it, and what
 * is wrong with one says nothing of the others.
 */
export async function onClouds<T extends KubernetesObject, Read, Observed>(
  { kube, openClouds }: Context,
  objects: readonly T[],
  read: (cloud: Cloud, objects: readonly T[]) => Promise<Read>,
  observed: (object: T, cloud: { fault: CloudFault } | Read, policy: Policy) => Observed,
): Promise<Observed[]> {
  if (objects.length === 0) return [];
  const policy = await readPolicy(kube);
  const clouds = openClouds(
    // A list that does not parse is no leave to ask anywhere.
    (url) => isValid(policy, 'openstackEndpoints') && allowedBy(policy.values.openstackEndpoints, url),
  );
  const groups = [...Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')];
  const seen = groups.map(async ([namespace, group]) => {
    // What is in the operator's own namespace is the account itself.
    const isDeleting =
      namespace === operatorNamespace || group.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
    const reading = async () => {
      const cloud = await clouds.of(namespace, isDeleting);
      return isFault(cloud) ? { fault: cloud } : read(cloud, group).catch(refusedReading);
    };
    const found = await inTime(reading());
    return group.map((object) => observed(object, found, policy));
  });
  return (await Promise.all(seen)).flat();
}

/** So long the OpenStack of one namespace may take: what was read of the others is too old to act upon soon after. */
const patienceMs = 20_000;

async function inTime<T>(reading: Promise<T>): Promise<T | { fault: CloudFault }> {
  const late = Promise.withResolvers<{ fault: CloudFault }>();
  const timer = setTimeout(() => late.resolve({ fault: tooSlow }), patienceMs);
  try {
    return await Promise.race([reading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const tooSlow: CloudFault = {
  reason: 'Unreachable',
  message: `expected OpenStack to tell what there is within ${patienceMs / 1000} s, found it slower`,
};
