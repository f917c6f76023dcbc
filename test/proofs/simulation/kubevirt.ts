import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { ownedBy } from '../../../deploy/local/controller/owner.ts';
import type { Faults } from './faults.ts';
import { type Hands, shelves } from './hands.ts';
import type { MachineFault } from './plan.ts';

const finalizer = 'kubevirt.io/virtualMachineControllerFinalize';

/** Plays KubeVirt (cdi-kubevirt reference, §7.7): it starts a machine once its disk is there, and says how that goes. */
export function playKubevirt(hands: Hands, faults: Faults) {
  return ({ type, resource, object }: StoreEvent) => {
    if (resource !== shelves.kubeVirtMachines) return;
    const { namespace, name, uid, deletionTimestamp } = object.metadata;
    const ref = { namespace, name, uid };
    if (type === 'MODIFIED' && deletionTimestamp) hands.soon(() => removeFinalizer(hands, ref));
    if (type !== 'ADDED') return;
    const how = faults.at(faults.count('machine'), 'machine')?.how;
    hands.soon(() => {
      hands.change(shelves.kubeVirtMachines, ref, (machine) =>
        machine.metadata.deletionTimestamp
          ? machine
          : {
              ...machine,
              metadata: { ...machine.metadata, finalizers: [finalizer] },
              status: { printableStatus: 'Starting' },
            },
      );
      start(hands, ref, how);
    });
  };
}

type Ref = { namespace: string | undefined; name: string; uid: string };

function start(hands: Hands, ref: Ref, how: MachineFault | undefined) {
  const say = (status: object) => hands.status(shelves.kubeVirtMachines, ref, status);
  const machine = hands.get(shelves.kubeVirtMachines, ref);
  if (!machine || machine.metadata.deletionTimestamp) return;
  if (!isDiskThere(hands, machine)) {
    say({ printableStatus: 'Provisioning' });
    hands.again(() => start(hands, ref, how), 2000);
    return;
  }
  if (how === 'unschedulable' || how === 'crashLoop') {
    say(
      how === 'crashLoop'
        ? { printableStatus: 'CrashLoopBackOff', startFailure: { consecutiveFailCount: 3 } }
        : { printableStatus: 'ErrorUnschedulable' },
    );
    hands.soon(() => start(hands, ref, undefined), 90_000);
    return;
  }
  hands.make(shelves.instances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: ref.name,
      namespace: ref.namespace,
      labels: machine.metadata.labels ?? {},
      ownerReferences: [ownedBy(machine)],
    },
    status: { phase: 'Running', nodeName: 'node-1', interfaces: [{ name: 'default', ipAddress: '10.0.0.9' }] },
  });
  hands.soon(() => say({ created: true, ready: true, printableStatus: 'Running', startFailure: undefined }), 1000);
  if (how === 'deleted') hands.soon(() => hands.delete(shelves.kubeVirtMachines, ref), 5000);
  if (how === 'diskDeleted')
    hands.soon(() => hands.delete(shelves.dataVolumes, { namespace: ref.namespace, name: `${ref.name}-root` }), 5000);
}

const isDiskThere = (hands: Hands, { metadata }: ApiObject) => {
  const disk = hands.get(shelves.dataVolumes, { namespace: metadata.namespace, name: `${metadata.name}-root` });
  return (disk?.status as { phase?: string } | undefined)?.phase === 'Succeeded';
};

/** The instance goes first. */
async function removeFinalizer(hands: Hands, ref: Ref) {
  await hands.delete(shelves.instances, { namespace: ref.namespace, name: ref.name });
  hands.soon(() => hands.removeFinalizer(shelves.kubeVirtMachines, ref, finalizer));
}
