import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { until, type World } from './world.ts';

const isReady = (trigger: Trigger | undefined) => conditionOf(trigger?.status?.conditions, 'Ready')?.status === 'True';

/** Runs while there is that Trigger, from when it is Ready. */
export async function withTrigger(
  world: World,
  { metadata, spec }: { metadata: ObjectReference; spec: NonNullable<Trigger['spec']> },
  run: () => Promise<void>,
): Promise<void> {
  await world.kube.create(Trigger, {
    metadata: { ...metadata, labels: { 'eventing.knative.dev/broker': 'default' } },
    spec,
  });
  try {
    await until(world, Trigger, metadata, isReady);
    await run();
  } finally {
    await world.kube.delete(Trigger, metadata);
  }
}
