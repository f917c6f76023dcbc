import { isBlocked } from '../../shared/images/stopped.ts';
import { machineSteps, type VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { heldBy, phaseOf } from '../../shared/kubernetes/shown.ts';
import type { Policy } from '../../shared/policy.ts';
import { heldNamespace } from '../../shared/workspaces/images.ts';
import type { QueueView } from '../cli/queue-view.ts';
import { isWell } from '../cli/state.ts';
import { kindOf, type Target } from '../cli/target.ts';
import { type Why, whyOf } from '../cli/why-view.ts';
import type { ObjectAt } from './view.ts';
import { hidden } from './visible.ts';

/** What causes are looked for among. */
export interface Among {
  /** By their keys. */
  images: ReadonlyMap<string, VMDiskImage>;
  machines: ReadonlyMap<string, VirtualMachine>;
  policy: Policy;
  queue: QueueView;
  nowMs: number;
}

/** The object with the first cause, if something is wrong: not of an object that only takes its time. */
export function causeAt(target: Target, among: Among): ObjectAt | undefined {
  if (isWell(target)) return undefined;
  // An image depends on no object that the page could name; to explain thousands of them would take a second.
  if (kindOf(target) === 'image') return isTroubled(target) ? objectAt(target) : undefined;
  const { at } = explain(target, among);
  return isTroubled(at) || isTroubled(target) ? objectAt(at) : undefined;
}

/** Why an object is not Ready, and what would help, as `ot-functions why` says it of the same objects. */
export const explain = (target: Target, { images, machines, ...rest }: Among): Why =>
  // Only what it may depend on: among all objects of a cluster each look would take a second.
  whyOf(target, {
    ...rest,
    images:
      kindOf(target) === 'image'
        ? // Another one may download the same content.
          [...images.values()].filter(({ metadata }) => metadata.namespace === target.metadata.namespace)
        : imageKeysOf(target).flatMap((key) => images.get(key) ?? []),
    machines: machineKeysOf(target).flatMap((key) => machines.get(key) ?? []),
    // The console may read no Secret.
    secrets: new Map(),
    parts: [],
  });

function imageKeysOf(target: Target): string[] {
  const kind = kindOf(target);
  if (kind === 'machine') return [keyOf((target as VirtualMachine).spec.vmDiskImageRef)];
  return kind === 'workspace' ? ((target as Workspace).status?.images ?? []).map(keyOf) : [];
}

function machineKeysOf(target: Target): string[] {
  if (kindOf(target) !== 'workspace') return [];
  const { namespace = '', components = [] } = (target as Workspace).status ?? {};
  return components.filter(({ kind }) => kind === 'VirtualMachine').map(({ name }) => keyOf({ namespace, name }));
}

function isTroubled(target: Target): boolean {
  if (target.metadata.deletionTimestamp) return heldBy(target) !== undefined;
  if (phaseOf(target) === 'Failed') return true;
  const kind = kindOf(target);
  if (kind === 'image') {
    const image = target as VMDiskImage;
    return image.status?.phase === 'Retrying' || isBlocked(image);
  }
  if (kind === 'machine') {
    const { trouble } = (target as VirtualMachine).status ?? {};
    return trouble !== undefined && !machineSteps.includes(trouble.reason);
  }
  return kind === 'workspace' && ((target as Workspace).status?.components ?? []).some((one) => one.phase === 'Failed');
}

const sectionOf: Readonly<Record<string, ObjectAt['section']>> = {
  image: 'images',
  machine: 'machines',
  workspace: 'workspaces',
  'virtualmachine.kupenstack.io': 'servers',
};

/** Where the page shows it; undefined for a kind that it does not show. */
function objectAt(target: Target): ObjectAt | undefined {
  const section = sectionOf[kindOf(target)];
  return section && { section, key: keyOf(target.metadata) };
}

/** Where the page shows the object of a workspace's component. */
export function componentAt(kind: string, name: string, workspace: Workspace): ObjectAt | undefined {
  const namespace = kind === 'VMDiskImage' ? heldNamespace(workspace, name) : workspace.status?.namespace;
  if (namespace === undefined || (kind !== 'VMDiskImage' && kind !== 'VirtualMachine')) return undefined;
  return { section: kind === 'VMDiskImage' ? 'images' : 'machines', key: keyOf({ namespace, name }) };
}

/** The same without what a user may not see; places in the queue stay, without names. */
export function visibleAmong(among: Among, maySee: (section: 'images' | 'machines', key: string) => boolean): Among {
  const kept = <T>(section: 'images' | 'machines', objects: ReadonlyMap<string, T>) =>
    new Map([...objects].filter(([key]) => maySee(section, key)));
  const named = <T extends { image: string }>(one: T): T =>
    maySee('images', one.image) ? one : { ...one, image: hidden };
  const { queue } = among;
  return {
    ...among,
    images: kept('images', among.images),
    machines: kept('machines', among.machines),
    queue: { ...queue, slots: queue.slots.map(named), waiting: queue.waiting.map(named) },
  };
}
