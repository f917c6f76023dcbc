import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { Invariant, State } from './follow.ts';
import { conditionOf, isTrue } from './plain-rules.ts';

/** The reasons of a machine that is still starting. */
const starting: readonly (string | undefined)[] = [
  undefined,
  'Provisioning',
  'Starting',
  'Cloning',
  'ImageReady',
  'Creating',
  'ImageMissing',
  'ImageQueued',
  'ImageSyncing',
  'ImageSnapshotting',
  'ImageRetrying',
];

/**
 * L6, machines: at rest, a machine that may use its image is Ready if the image is usable, or reports why not. The reasons of a
 * machine that is still starting do not count.
 */
export const l6Machines: Invariant = {
  number: 'L6',
  rule: 'a machine whose image is usable is Ready or reports why not',
  judge: (state, { stillFromMs }) => ({
    end: () => {
      if (stillFromMs === undefined) return [];
      return [...state.machines.values()]
        .filter((machine) => machine.metadata.deletionTimestamp === undefined && hasUsableImage(machine, state))
        .filter(({ status }) => status?.phase !== 'Ready' && !reportsWhy(status))
        .map(
          ({ metadata, status }) =>
            `machine ${metadata.name} ends ${status?.phase ?? 'unseen'}: ${status?.message ?? ''}`,
        );
    },
  }),
};

function hasUsableImage({ metadata, spec }: VirtualMachine, { images, policies }: State): boolean {
  const { name, namespace } = spec.vmDiskImageRef;
  const isAllowed = namespace === metadata.namespace || policies.now.values.imageNamespaces.includes(namespace);
  const image = [...images.values()].find((one) => one.metadata.name === name && one.metadata.namespace === namespace);
  return isAllowed && image?.metadata.deletionTimestamp === undefined && isTrue(image?.status?.conditions, 'Ready');
}

function reportsWhy(status: VirtualMachine['status']): boolean {
  const ready = conditionOf(status?.conditions, 'Ready');
  return ready?.status === 'False' && !starting.includes(ready.reason);
}
