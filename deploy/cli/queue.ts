import { leaseRef } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceIn } from '../../shared/kinds/resource.ts';
import { policyRef } from '../../shared/policy.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { type Body, exit, type Watched } from './command.ts';
import { queueLines, queueObjects, queueOf, type Read } from './queue-view.ts';
import { type Stopped, stoppedBy } from './stopped.ts';
import { kubectlName, listEverywhere } from './target.ts';

/** The images that download, the images that wait, and when these may start. */
export const queue: Body = {
  words: '',
  options: {},
  details: [
    'There is one queue for all namespaces: the image that has waited longest is next. The forecast uses the duration of',
    'finished downloads; without any it is "unknown".',
  ],
  examples: ['queue', 'queue -o json'],
  watches: () => [{ resource: VMDiskImage }, ...whatStops],
  run: async ({ cluster, nowMs, look }) => {
    const view = queueOf(await readQueue((await cluster()).kube), nowMs);
    const objects = queueObjects(view).map(({ image, says }) => ({
      name: kubectlName(VMDiskImage.kind, referenceIn(image).name),
      about: image,
      says,
    }));
    return { lines: queueLines(view, nowMs, look), json: view, objects, code: exit.done };
  },
};

/** What may stop the queue. */
export const whatStops: readonly Watched[] = [
  { resource: Lease, ...leaseRef },
  { resource: ConfigMap, ...policyRef },
];

export async function readQueue(kube: Kube): Promise<Read> {
  const [images, held, policy] = await Promise.all([
    listEverywhere<VMDiskImage>(kube, 'image'),
    kube.get(Lease, leaseRef),
    readPolicy(kube),
  ]);
  return { images, lease: held, policy };
}

/** What stops the queue; undefined if the user may not read the policy or the Lease. */
export async function readStopped(kube: Kube, nowMs: number): Promise<Stopped | undefined> {
  try {
    const [policy, held] = await Promise.all([readPolicy(kube), kube.get(Lease, leaseRef)]);
    return stoppedBy(policy, held, { hasWaiting: false, nowMs });
  } catch (error) {
    if (hasStatus(error, 403)) return undefined;
    throw error;
  }
}
