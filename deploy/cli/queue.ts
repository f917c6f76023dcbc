import { leaseName } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { parsePolicy, policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { type Body, exit } from './command.ts';
import { queueLines, queueOf, type Read } from './queue-view.ts';
import { listEverywhere } from './target.ts';

/** The images that download, the images that wait, and when these may start. */
export const queue: Body = {
  words: '',
  options: {},
  details: [
    'There is one queue for all namespaces: the image that has waited longest is next. The forecast uses the duration of',
    'finished downloads; without any it is "unknown".',
  ],
  examples: ['queue', 'queue --json'],
  run: async ({ cluster, nowMs, look }) => {
    const view = queueOf(await readQueue((await cluster()).kube), nowMs);
    return { lines: queueLines(view, nowMs, look), json: view, code: exit.done };
  },
};

/** Reads the queue from the cluster. */
export async function readQueue(kube: Kube): Promise<Read> {
  const [images, lease, configMap] = await Promise.all([
    listEverywhere<VMDiskImage>(kube, 'image'),
    kube.get(Lease, { namespace: operatorNamespace, name: leaseName }),
    kube.get(ConfigMap, policyRef),
  ]);
  return { images, lease, policy: parsePolicy(configMap) };
}
