import { networkProviderAnnotation, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { type Child, make } from '../child.ts';
import { imageRefOf, isUsable } from '../images/plan.ts';
import { networksOf, routesOf } from '../network/addresses.ts';
import { providerIn } from '../network/plan.ts';
import type { Observed } from '../observed.ts';
import { buildRecord } from '../roles/build-record.ts';
import { isSkipped, skippedByPolicy } from '../skipped.ts';
import {
  component,
  failed,
  provisioning,
  ready,
  type Stage,
  type Standing,
  skipped,
  standingOf,
  waiting,
} from '../stage.ts';

/** The machines, each from its image, on its networks. */
export function machineStage(observed: Observed): Stage {
  const looks = (observed.workspace.spec.vms ?? []).map((machine) => ({
    name: machine.name,
    ...lookAt(observed, machine),
  }));
  return {
    condition: 'VirtualMachinesReady',
    writes: looks.flatMap(({ writes }) => writes),
    components: looks.map(({ name, standing }) => component('VirtualMachine', name, standing)),
  };
}

function lookAt(observed: Observed, machine: WorkspaceMachine): Pick<Stage, 'writes'> & { standing: Standing } {
  const { workspace, policy, inside, images } = observed;
  const found = inside?.machines.find(({ metadata }) => metadata.name === machine.name);
  const isOurs = found !== undefined && owns(workspace, found);
  if (!isOurs && isSkipped(machine, policy)) return { writes: [], standing: skipped(skippedByPolicy) };
  const child = machineChild(observed, machine);
  const hasImage = isUsable(images.get(keyOf(imageRefOf(observed, machine.backingVMDiskImage))));
  if (isOurs && found.spec.vmDiskImageRef.name !== machine.backingVMDiskImage) {
    return replaced(found, machine, hasImage);
  }
  if (!found && !hasImage) {
    return { writes: [], standing: waiting('ImageNotReady', `Waiting for VMDiskImage ${machine.backingVMDiskImage}.`) };
  }
  const made = make(observed, child, found);
  return { writes: made.writes, standing: standingOf([made]) ?? standingOfMachine(found) };
}

/**
 * The image of a machine never changes: with another image it is another machine, with another disk. The one that is there
 * stays until there is something to make the other from.
 */
function replaced(found: VirtualMachine, { backingVMDiskImage }: WorkspaceMachine, hasImage: boolean) {
  if (!hasImage) {
    const until = `Waiting for VMDiskImage ${backingVMDiskImage}; until then it stays on ${found.spec.vmDiskImageRef.name}.`;
    return { writes: [], standing: waiting('ImageNotReady', until) };
  }
  const message = `It is made anew, from VMDiskImage ${backingVMDiskImage} instead of ${found.spec.vmDiskImageRef.name}.`;
  const isDeleting = found.metadata.deletionTimestamp !== undefined;
  return {
    writes: isDeleting ? [] : [{ do: 'delete', resource: VirtualMachine, of: found } as const],
    standing: provisioning('ImageChanged', message),
  };
}

function standingOfMachine(found: VirtualMachine | undefined): Standing {
  const { phase, message = '', conditions, observedGeneration } = found?.status ?? {};
  const reason = conditionOf(conditions, 'Ready')?.reason ?? 'Provisioning';
  if (phase === 'Failed') return failed(reason, message);
  const isCurrent = observedGeneration === found?.metadata.generation;
  if (phase === 'Ready' && isCurrent) return ready(reason, message);
  return provisioning(phase === 'Ready' ? 'Updating' : reason, message || 'It has not been looked at yet.');
}

function machineChild(observed: Observed, machine: WorkspaceMachine): Child {
  const { workspace } = observed;
  const { name, version, baseVm, baseVmVersion, ignoreOnDeploy, users, resources, diskSize, interfaces = [] } = machine;
  const { networks = [] } = workspace.spec;
  const routes = routesOf(interfaces, networks);
  return {
    resource: VirtualMachine,
    ref: { namespace: namespaceOf(workspace.metadata.name), name },
    annotations: {
      ...buildRecord(machine),
      ...(interfaces.length > 0 ? { [networkProviderAnnotation]: providerIn(observed) } : {}),
    },
    fields: {
      spec: {
        name,
        ...(version === undefined ? {} : { version }),
        ...(baseVm === undefined ? {} : { baseVm }),
        ...(baseVmVersion === undefined ? {} : { baseVmVersion }),
        ...(ignoreOnDeploy === undefined ? {} : { ignoreOnDeploy }),
        ...(users === undefined ? {} : { users }),
        resources: { ...resources, ...(diskSize === undefined ? {} : { diskSize }) },
        interfaces: networksOf(interfaces, networks).map(({ network, one }) => {
          const ways = routes.get(network.name) ?? [];
          const nameservers = network.nameservers?.addresses ?? [];
          return {
            network: network.name,
            ...(one.ipAddress === undefined ? {} : { ipAddress: one.ipAddress }),
            ...(ways.length > 0 ? { routes: ways } : {}),
            ...(nameservers.length > 0 ? { nameservers } : {}),
          };
        }),
        vmDiskImageRef: imageRefOf(observed, machine.backingVMDiskImage),
      },
    },
  };
}
