import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { ownedBy } from '../../../deploy/local/controller/owner.ts';
import type { Faults } from './faults.ts';
import type { MachineFault } from './plan.ts';
import { type StoreWriter, storeKeys } from './store-writer.ts';

const finalizer = 'kubevirt.io/virtualMachineControllerFinalize';

/** Simulates KubeVirt: starts a machine once its disk exists, and reports its state. */
export function simulateKubevirt(writer: StoreWriter, faults: Faults) {
  return ({ type, resource, object, previous }: StoreEvent) => {
    if (resource !== storeKeys.kubeVirtMachines) return;
    const { namespace, name, uid, deletionTimestamp } = object.metadata;
    const ref = { namespace, name, uid };
    if (type === 'MODIFIED' && deletionTimestamp) writer.schedule(() => removeFinalizer(writer, ref));
    const isHalted = isToHalt(object);
    if (type === 'MODIFIED' && previous && !deletionTimestamp && isHalted !== isToHalt(previous))
      writer.schedule(() => (isHalted ? halt(writer, ref) : start(writer, ref, undefined)));
    if (type !== 'ADDED') return;
    const how = faults.at(faults.count('machine'), 'machine')?.how;
    writer.schedule(() => {
      writer.change(storeKeys.kubeVirtMachines, ref, (machine) =>
        machine.metadata.deletionTimestamp
          ? machine
          : {
              ...machine,
              metadata: { ...machine.metadata, finalizers: [finalizer] },
              status: { printableStatus: isHalted ? 'Stopped' : 'Starting' },
            },
      );
      if (!isHalted) start(writer, ref, how);
    });
  };
}

const isToHalt = ({ spec }: ApiObject) => (spec as { runStrategy?: string }).runStrategy === 'Halted';

async function halt(writer: StoreWriter, ref: Ref) {
  await writer.delete(storeKeys.instances, { namespace: ref.namespace, name: ref.name });
  writer.patchStatus(storeKeys.kubeVirtMachines, ref, { printableStatus: 'Stopped', ready: false });
}

type Ref = { namespace: string | undefined; name: string; uid: string };

function start(writer: StoreWriter, ref: Ref, how: MachineFault | undefined) {
  const say = (status: object) => writer.patchStatus(storeKeys.kubeVirtMachines, ref, status);
  const machine = writer.get(storeKeys.kubeVirtMachines, ref);
  if (!machine || machine.metadata.deletionTimestamp || isToHalt(machine)) return;
  if (!hasDisk(writer, machine)) {
    say({ printableStatus: 'Provisioning' });
    writer.retryAfter(() => start(writer, ref, how), 2000);
    return;
  }
  if (how === 'unschedulable' || how === 'crashLoop') {
    say(
      how === 'crashLoop'
        ? { printableStatus: 'CrashLoopBackOff', startFailure: { consecutiveFailCount: 3 } }
        : { printableStatus: 'ErrorUnschedulable' },
    );
    writer.schedule(() => start(writer, ref, undefined), 90_000);
    return;
  }
  writer.create(storeKeys.instances, {
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
  writer.schedule(() => say({ created: true, ready: true, printableStatus: 'Running', startFailure: undefined }), 1000);
  if (how === 'deleted') writer.schedule(() => writer.delete(storeKeys.kubeVirtMachines, ref), 5000);
  if (how === 'diskDeleted')
    writer.schedule(
      () => writer.delete(storeKeys.dataVolumes, { namespace: ref.namespace, name: `${ref.name}-root` }),
      5000,
    );
}

const hasDisk = (writer: StoreWriter, { metadata }: ApiObject) => {
  const disk = writer.get(storeKeys.dataVolumes, { namespace: metadata.namespace, name: `${metadata.name}-root` });
  return (disk?.status as { phase?: string } | undefined)?.phase === 'Succeeded';
};

/** The instance is deleted first. */
async function removeFinalizer(writer: StoreWriter, ref: Ref) {
  await writer.delete(storeKeys.instances, { namespace: ref.namespace, name: ref.name });
  writer.schedule(() => writer.removeFinalizer(storeKeys.kubeVirtMachines, ref, finalizer));
}
