import { hardware, networkProviderAnnotation, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { Workspace, WorkspaceMachine, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { recordEvent } from '../../../shared/kubernetes/events.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { type Child, type Made, type Make, named } from '../child.ts';
import { deleteExcept } from '../garbage.ts';
import type { WantedImage, WantedImages } from '../images/plan.ts';
import { isUsable } from '../images/status.ts';
import { networksOf, routesOf } from '../network/addresses.ts';
import type { Provider } from '../network/plan.ts';
import type { Inside } from '../observed.ts';
import { keyFor } from '../roles/credentials.ts';
import { type Access, accessTo } from '../roles/login.ts';
import { hasKeys, type RolesFound } from '../roles/roles.ts';
import { buildRecord } from '../roles/roles-of-machine.ts';
import { isSkipped, skippedByPolicy } from '../skipped.ts';
import { type PlannedComponent, provisioning, type Stage, skipped, stageOf, statusOf, waiting } from '../stage.ts';
import { statusOfMachine } from './status.ts';

interface Machines extends Pick<Inside, 'machines'>, Pick<RolesFound, 'workspace' | 'policy' | 'site'> {
  provider: Provider;
  wanted: WantedImages;
  /** They are stopped. */
  isHibernating: boolean;
  /** What is written before the machines that name it. */
  hostKeys: Made | undefined;
}

/** The machines, each from its image, on its networks. */
export function machineStage(found: Machines, make: Make): Stage {
  const { workspace, site } = found;
  const key = keyFor(workspace, site)?.publicKey;
  return stageOf(
    'VirtualMachinesReady',
    'VirtualMachine',
    (workspace.spec.vms ?? []).map((machine) => componentOf({ ...found, key }, machine, make)),
  );
}

function componentOf(
  {
    workspace,
    policy,
    key,
    hostKeys,
    provider,
    machines,
    wanted,
    isHibernating,
  }: Machines & { key: string | undefined },
  machine: WorkspaceMachine,
  make: Make,
): PlannedComponent {
  const { name, backingVMDiskImage } = machine;
  const found = named(machines, name);
  const isOurs = found !== undefined && owns(workspace, found);
  if (!isOurs && isSkipped(machine, policy)) return { name, writes: [], status: skipped(skippedByPolicy) };
  const image = wanted.get(backingVMDiskImage);
  const hasImage = isUsable(image?.image) && !image?.refused;
  if (isOurs && found.spec.vmDiskImageRef.name !== backingVMDiskImage) {
    return { name, ...replaced(workspace, found, machine, hasImage) };
  }
  if (!found && !hasImage) {
    return { name, writes: [], status: waiting('ImageNotReady', `Waiting for VMDiskImage ${backingVMDiskImage}.`) };
  }
  const access = accessTo({ workspace, policy }, machine, key);
  const keys = hostKeys && hasKeys(machine, workspace, policy) ? [hostKeys] : [];
  const because = 'because' in access ? access.because : keys[0]?.obstacle && statusOf(keys);
  if (!found && because) return { name, writes: [], status: because };
  const known = 'because' in access ? (found?.spec ?? {}) : access;
  const made = make(machineChild(workspace.spec, machine, known, provider, { ref: image?.ref, isHibernating }), found);
  // It is stopped until provision-vm has seen that it is to run again.
  const isWaking = found?.spec.halted && !isHibernating;
  const status = isWaking ? provisioning('Starting', 'It is being started.') : statusOfMachine(found);
  return { name, writes: made.writes, status: statusOf([...keys, made]) ?? status };
}

/**
 * The image of a machine never changes: with another image it is recreated, with another disk. The existing machine stays until
 * the other image is usable.
 */
function replaced(
  workspace: Workspace,
  found: VirtualMachine,
  { name, backingVMDiskImage }: WorkspaceMachine,
  hasImage: boolean,
) {
  const before = found.spec.vmDiskImageRef.name;
  if (!hasImage) {
    const until = `Waiting for VMDiskImage ${backingVMDiskImage}; until then it stays on ${before}.`;
    return { writes: [], status: waiting('ImageNotReady', until) };
  }
  const deletion = deleteExcept(VirtualMachine, [found]);
  const how = `is recreated from VMDiskImage ${backingVMDiskImage} instead of ${before}, with a new disk`;
  const message = `VirtualMachine ${name} ${how}: what its disk held is deleted.`;
  const warning = recordEvent(workspace, true, 'ImageChanged', message, found.metadata.uid);
  return {
    writes: deletion.length > 0 ? [...deletion, warning] : [],
    status: provisioning('ImageChanged', `It ${how}.`),
  };
}

function machineChild(
  { networks = [] }: WorkspaceSpec,
  machine: WorkspaceMachine,
  { users, sshHostKeySecretRef }: Access,
  provider: Provider,
  { ref: vmDiskImageRef, isHibernating }: { ref: WantedImage['ref'] | undefined; isHibernating: boolean },
): Child {
  const { name, version, baseVm, baseVmVersion, ignoreOnDeploy, resources, diskSize, interfaces = [] } = machine;
  const { vmDiskImageTemplate } = machine;
  const asked = Object.keys(hardware).map((field) => [field, machine[field as keyof typeof hardware]] as const);
  const routes = routesOf(interfaces, networks);
  return {
    resource: VirtualMachine,
    name,
    annotations: {
      ...buildRecord(machine),
      ...(interfaces.length > 0 ? { [networkProviderAnnotation]: provider } : {}),
    },
    fields: {
      spec: {
        name,
        ...(version === undefined ? {} : { version }),
        ...(baseVm === undefined ? {} : { baseVm }),
        ...(baseVmVersion === undefined ? {} : { baseVmVersion }),
        ...(ignoreOnDeploy === undefined ? {} : { ignoreOnDeploy }),
        ...(isHibernating ? { halted: true } : {}),
        ...(users === undefined ? {} : { users }),
        ...(sshHostKeySecretRef === undefined ? {} : { sshHostKeySecretRef }),
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
        ...Object.fromEntries(asked.filter(([, value]) => value !== undefined)),
        vmDiskImageRef,
        // It says which content counts; compose-workspace alone makes the image.
        ...(vmDiskImageTemplate === undefined ? {} : { vmDiskImageTemplate, mode: 'FailIfNotExist' }),
      },
    },
  };
}
