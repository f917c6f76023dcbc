import { setTimeout } from 'node:timers/promises';
import { timerOf } from '../../../shared/event-filter.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Cluster } from './cluster.ts';
import { fieldManager } from './inventory.ts';
import { PingSource } from './kinds.ts';
import { untilUp } from './readiness.ts';

/** Long enough that a timer of every second fires, however long Knative takes to hear of it. */
const firesWithinMs = 4000;

/**
 * Has the audit timers fire at once: no function has heard of what changed while nothing delivered. By their own schedule that takes up to
 * ten minutes; another sender would need permission to post to the Brokers.
 */
export async function auditNow(cluster: Cluster, wanted: readonly KubernetesObject[]): Promise<void> {
  const timers = wanted.filter(({ kind, metadata }) => kind === PingSource.kind && timerOf(metadata.name) === 'audit');
  const apply = async (timer: KubernetesObject) => {
    await cluster.kube.apply(PingSource, timer, { fieldManager, force: true });
    await untilUp(cluster, timer);
  };
  if (timers.length === 0) return;
  try {
    await Promise.all(timers.map((timer) => apply(atSchedule(timer, '* * * * * *'))));
    await setTimeout(firesWithinMs);
  } finally {
    await Promise.all(timers.map(apply));
  }
  cluster.say('audit: the functions look at all objects');
}

const atSchedule = (timer: KubernetesObject, schedule: string) => ({
  ...timer,
  spec: { ...(timer as { spec?: object }).spec, schedule },
});
