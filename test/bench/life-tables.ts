import type { LifeName } from './lives.ts';

/** What an object may cause in a part of its life, each: what was found, which bounds.ts allows a little more of; a key that is missing may not occur. */
export interface LifeTable {
  /** Of what no row of deliveries says to vary. */
  events: Figure;
  hops: Figure;
  reads: Figure;
  /** Deliveries of an event that was not taken at first. */
  repeated: Figure;
  /** By Trigger, then by what happened. */
  deliveries: Readonly<Record<string, Readonly<Record<string, Figure>>>>;
  /** By function, then by verb and kind. */
  writes: Readonly<Record<string, Readonly<Record<string, Figure>>>>;
}

/** `upTo` is the most of what differs from run to run: progress is reported by time, and changes that meet are one. `beside` a write that differs like this there are `more`. */
export type Figure = number | { most: number } | { beside: string; more: number };
const upTo = (most: number): Figure => ({ most });
const beside = (write: string, more: number): Figure => ({ beside: write, more });

/** Of a machine that is made: each of its changes but two is a write of its status. */
const machineMade: Readonly<Record<string, Figure>> = {
  'VirtualMachine add': 1,
  'VirtualMachine update': beside('provision-vm patch virtualmachines.pelotech.ot/status', 2),
};

/** Found by `npm run bench` in six runs at loads of 4 to 10, 2026-11-29. Who changes a figure says why in the commit. */
export const lifeTables: Readonly<Record<LifeName, LifeTable>> = {
  'an image is synced': {
    events: 7,
    hops: 32,
    reads: upTo(80),
    repeated: 0,
    deliveries: {
      'count-refs': { 'ot.pelotech.disk-image.succeeded.v1': 1 },
      'ensure-vmdi': { 'ot.pelotech.disk-image.queued.v1': 1 },
      'follow-sync-images': {
        'DataVolume delete': 1,
        'DataVolume update': upTo(19.4),
        'VolumeSnapshot update': upTo(5.5),
      },
      'inspect-source': { 'ot.pelotech.disk-image.queued.v1': 1 },
      'provision-vm': { 'ot.pelotech.disk-image.succeeded.v1': 1 },
      'start-sync-images': {
        'DataVolume delete': 1,
        'Pod delete': 2,
        'VMDiskImage add': 1,
        'VMDiskImage update': beside('follow-sync patch vmdiskimages.pelotech.ot/status', 5),
      },
    },
    writes: {
      'count-refs': { 'patch vmdiskimages.pelotech.ot/status': 1 },
      'follow-sync': {
        'create events': 1,
        'create volumesnapshots.snapshot.storage.k8s.io': 1,
        'delete datavolumes.cdi.kubevirt.io': 1,
        'patch vmdiskimages.pelotech.ot/status': upTo(4.2),
      },
      'inspect-source': { 'patch vmdiskimages.pelotech.ot/status': 1 },
      'start-sync': {
        'create datavolumes.cdi.kubevirt.io': 1,
        'patch vmdiskimages.pelotech.ot': 1,
        'patch vmdiskimages.pelotech.ot/status': 2,
        'update leases.coordination.k8s.io': upTo(1.6),
      },
      'the API server': { refused: upTo(1.5) },
    },
  },
  'an image is deleted': {
    events: 7,
    hops: 20,
    reads: upTo(27),
    repeated: upTo(4.7),
    deliveries: {
      'ensure-vmdi': { 'ot.pelotech.disk-image.pruned.v1': 1 },
      'follow-sync': { 'ot.pelotech.disk-image.unsettled.v1': upTo(2.5) },
      'follow-sync-images': { 'VolumeSnapshot delete': 1, 'VolumeSnapshot update': 2 },
      prune: { 'ot.pelotech.disk-image.prunable.v1': upTo(3.7) },
      'start-sync-images': { 'VMDiskImage delete': 1, 'VMDiskImage update': 2 },
    },
    writes: {
      prune: {
        'delete volumesnapshots.snapshot.storage.k8s.io': 1,
        'patch vmdiskimages.pelotech.ot': 1,
        'patch vmdiskimages.pelotech.ot/status': 1,
      },
      'the API server': { refused: upTo(1.5) },
    },
  },
  'a machine starts': {
    events: 30.2,
    hops: 95.4,
    reads: upTo(113),
    repeated: 0,
    deliveries: {
      'count-refs-machines': {
        ...machineMade,
      },
      'ensure-vmdi-machines': {
        ...machineMade,
      },
      'provision-vm-machines': {
        'DataVolume add': 1,
        'DataVolume update': 7,
        ...machineMade,
        'kubevirt.io VirtualMachine add': 1,
        'kubevirt.io VirtualMachine update': 11,
        'kubevirt.io VirtualMachineInstance add': 1,
        'kubevirt.io VirtualMachineInstance update': 7,
      },
      'start-sync-images': { 'VMDiskImage update': 0.2 },
    },
    writes: {
      'count-refs': { 'patch virtualmachines.pelotech.ot': 1, 'patch vmdiskimages.pelotech.ot/status': 0.2 },
      'ensure-vmdi': { 'patch virtualmachines.pelotech.ot/status': 1 },
      'provision-vm': {
        'create datavolumes.cdi.kubevirt.io': 1,
        'create events': 1,
        'create secrets': 1,
        'create virtualmachines.kubevirt.io': 1,
        'patch virtualmachines.pelotech.ot/status': upTo(5.9),
      },
      'the API server': { refused: upTo(1.5) },
    },
  },
  'a machine is deleted': {
    events: 13.4,
    hops: 39.8,
    reads: upTo(19),
    repeated: 0,
    deliveries: {
      'count-refs-machines': { 'VirtualMachine delete': 1, 'VirtualMachine update': 1 },
      'ensure-vmdi-machines': { 'VirtualMachine delete': 1, 'VirtualMachine update': 1 },
      'provision-vm-machines': {
        'DataVolume delete': 1,
        'VirtualMachine delete': 1,
        'VirtualMachine update': 1,
        'kubevirt.io VirtualMachine delete': 1,
        'kubevirt.io VirtualMachine update': 4,
        'kubevirt.io VirtualMachineInstance delete': 1,
        'kubevirt.io VirtualMachineInstance update': 4,
      },
      'start-sync-images': { 'VMDiskImage update': 0.4 },
    },
    writes: {
      'count-refs': { 'patch virtualmachines.pelotech.ot': 1, 'patch vmdiskimages.pelotech.ot/status': 0.4 },
      'the API server': { refused: upTo(1.5) },
    },
  },
  'a workspace becomes ready': {
    events: 48.34,
    hops: 113.67,
    reads: upTo(376),
    repeated: 0,
    deliveries: {
      'compose-workspace-workspaces': {
        'Deployment add': 1,
        'Deployment update': upTo(6.5),
        'Namespace add': 1,
        'NetworkPolicy add': 1,
        'Pod add': 2,
        'Pod update': 7,
        'RoleBinding add': 1,
        'Subnet add': 1,
        'Subnet update': upTo(24.5),
        ...machineMade,
        'Vpc add': 1,
        'Vpc update': 3,
        'Workspace add': 1,
        'Workspace update': beside('compose-workspace patch workspaces.pelotech.ot/status', 1),
      },
      'count-refs-machines': {
        ...machineMade,
        'Workspace add': 1,
        'Workspace update': beside('compose-workspace patch workspaces.pelotech.ot/status', 1),
      },
      'ensure-vmdi-machines': {
        'Namespace add': 1,
        ...machineMade,
      },
      'provision-vm-machines': {
        'DataVolume add': 1,
        'DataVolume update': 10,
        ...machineMade,
        'kubevirt.io VirtualMachine add': 1,
        'kubevirt.io VirtualMachine update': upTo(14.16),
        'kubevirt.io VirtualMachineInstance add': 1,
        'kubevirt.io VirtualMachineInstance update': 9,
      },
      'start-sync-images': { 'VMDiskImage update': 1.34 },
    },
    writes: {
      'compose-workspace': {
        'create deployments.apps': 1,
        'create events': 1,
        'create namespaces': 1,
        'create network-attachment-definitions.k8s.cni.cncf.io': 1,
        'create networkpolicies.networking.k8s.io': 1,
        'create rolebindings.rbac.authorization.k8s.io': 1,
        'create subnets.kubeovn.io': 1,
        'create virtualmachines.pelotech.ot': 1,
        'create vpcs.kubeovn.io': 1,
        'patch workspaces.pelotech.ot': 1,
        'patch workspaces.pelotech.ot/status': upTo(8.5),
      },
      'count-refs': { 'patch virtualmachines.pelotech.ot': 1, 'patch vmdiskimages.pelotech.ot/status': 1.34 },
      'ensure-vmdi': { 'patch virtualmachines.pelotech.ot/status': 1 },
      'provision-vm': {
        'create datavolumes.cdi.kubevirt.io': 1,
        'create events': 1,
        'create secrets': 1,
        'create virtualmachines.kubevirt.io': 1,
        'patch virtualmachines.pelotech.ot/status': upTo(4.83),
      },
      'the API server': { refused: upTo(1.5) },
    },
  },
  'a workspace is deleted': {
    events: 55.67,
    hops: 100.34,
    reads: upTo(137),
    repeated: 0,
    deliveries: {
      'compose-workspace-workspaces': {
        'Deployment delete': 1,
        'Namespace delete': 1,
        'Namespace update': 1,
        'NetworkPolicy delete': 1,
        'Pod add': upTo(1.16),
        'Pod delete': upTo(3.16),
        'Pod update': 3,
        'RoleBinding delete': 1,
        'Subnet delete': 1,
        'Subnet update': 12,
        'VirtualMachine delete': 1,
        'VirtualMachine update': 1,
        'Vpc delete': 1,
        'Vpc update': 2,
        'Workspace delete': 1,
        'Workspace update': 6,
      },
      'count-refs-machines': {
        'VirtualMachine delete': 1,
        'VirtualMachine update': 1,
        'Workspace delete': 1,
        'Workspace update': 6,
      },
      'ensure-vmdi-machines': { 'Namespace delete': 1, 'VirtualMachine delete': 1, 'VirtualMachine update': 1 },
      'provision-vm-machines': {
        'DataVolume delete': 1,
        'VirtualMachine delete': 1,
        'VirtualMachine update': 1,
        'kubevirt.io VirtualMachine delete': 1,
        'kubevirt.io VirtualMachine update': 4,
        'kubevirt.io VirtualMachineInstance delete': 1,
        'kubevirt.io VirtualMachineInstance update': 5,
      },
      'start-sync-images': { 'VMDiskImage update': 0.67 },
    },
    writes: {
      'compose-workspace': {
        'delete deployments.apps': 1,
        'delete namespaces': 1,
        'delete network-attachment-definitions.k8s.cni.cncf.io': 1,
        'delete subnets.kubeovn.io': 1,
        'delete virtualmachines.pelotech.ot': 1,
        'delete vpcs.kubeovn.io': 1,
        'patch workspaces.pelotech.ot': 1,
        'patch workspaces.pelotech.ot/status': 5,
      },
      'count-refs': { 'patch virtualmachines.pelotech.ot': 1, 'patch vmdiskimages.pelotech.ot/status': 0.67 },
      'the API server': { refused: upTo(1.5) },
    },
  },
};
