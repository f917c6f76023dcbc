import { uniqueByName } from '../../distinct.ts';
import { type Batch, type Context, type Subject, subjectNamed, subjectsOf } from '../../function.ts';
import { matches } from '../../glob.ts';
import type { KubernetesObject, Resource } from '../../kinds/resource.ts';
import type { Reported } from '../../kubernetes/status.ts';
import { type CloudFault, isReady } from '../../openstack/status.ts';
import { operatorNamespace } from '../../operator.ts';
import { isValid, type Policy } from '../../policy.ts';
import { getNamed } from '../get-named.ts';
import type { ListOptions } from '../kube.ts';
import { readPolicy } from '../read-policy.ts';
import { type Cloud, isFault, refusedReading } from './clouds.ts';

/**
 * What a function reads of objects on OpenStack: the OpenStack of each namespace is read once for all its objects, and a failure of
 * one namespace does not affect the others.
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
    // If the list does not parse, no address is allowed.
    (url) =>
      isValid(policy, 'openstackEndpoints') &&
      policy.values.openstackEndpoints.some((pattern) => matches(pattern, url)),
  );
  const groups = [...Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')];
  const seen = groups.map(async ([namespace, group]) => {
    // The operator's own namespace contains the account itself.
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

/**
 * Names all objects of a kind, or those that `options` select, page by page, but those of a namespace together: with each part of them its
 * OpenStack would be read again. The API server lists them in the order of their namespaces.
 */
export const auditOf = (resource: Resource<KubernetesObject>, options?: ListOptions) =>
  async function* ({ kube }: { kube: Pick<Context['kube'], 'pages'> }): AsyncGenerator<Subject[]> {
    let last: Subject[] = [];
    for await (const { items } of kube.pages(resource, options)) {
      const found = [...last, ...items.map(({ metadata }) => subjectNamed(resource, metadata))];
      const namespace = found.at(-1)?.namespace;
      yield found.filter((one) => one.namespace !== namespace);
      last = found.filter((one) => one.namespace === namespace);
    }
    yield last;
  };

/** Those that events or an audit name; at a sweep all that are not as they should be. */
export async function openOrNamed<T extends Reported>(
  kube: Context['kube'],
  batch: Batch,
  resource: Resource<T>,
): Promise<T[]> {
  const open: T[] = [];
  if (batch.sweep)
    for await (const { items } of kube.pages(resource)) open.push(...items.filter((one) => !isReady(one)));
  return uniqueByName([...open, ...(await getNamed(kube, resource, subjectsOf(batch, resource)))]);
}

/** The time limit for one namespace: after that, what was read of the others is soon too old to act upon. */
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
