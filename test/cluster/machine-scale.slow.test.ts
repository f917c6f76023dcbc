import { describe, test } from 'vitest';
import { manyMachines } from '../stories/machine-scale.ts';
import { installed } from './installed.ts';
import { kubectlOrFail } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

/** The Pods that are killed, one function after the other, as if their node died. */
const victims = ['provision-vm', 'ensure-vmdi', 'start-sync', 'count-refs', 'follow-sync', undefined].map((name) =>
  name ? `app.kubernetes.io/name=${name}` : 'app.kubernetes.io/part-of=ot-functions',
);

const broker = installed('serving');

describe('two hundred machines on twenty images all end well', () => {
  const story = manyMachines('while the Pods of functions are killed', {
    fault: {
      times: victims.length,
      inject: async (time) => {
        const pods = ['delete', 'pods', '-n', 'sync-operator', '-l', victims[time - 1] ?? ''];
        await kubectlOrFail(...pods, '--force', '--grace-period=0', '--wait=false');
      },
    },
    withinMs: 1_200_000,
  });
  // Two hundred machines keep two cores so busy that the kubelet restarts the channel's dispatcher, at last after minutes.
  const world = () => ({ kube: adminClient(), broker: broker(), goneWithinMs: 600_000 });
  test(story.name, () => onRealCluster(story, world()), 2_400_000);
});
