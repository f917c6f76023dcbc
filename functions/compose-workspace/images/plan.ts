import type { Action } from '../../../shared/actions.ts';
import { newImage, whyNoNamespace, whyNotMade, whyNotTrusted } from '../../../shared/images/new-image.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { madeForWorkspaces, type Workspace, type WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { keyOf, nameOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { formatRefusal, refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { isValid, type Policy } from '../../../shared/policy.ts';
import type { Cause } from '../../../shared/reasons/reason.ts';
import { heldNamespace, imageNamesOf } from '../../../shared/workspaces/images.ts';
import type { Inside, Observed, Own } from '../observed.ts';
import { isSkipped } from '../skipped.ts';
import {
  type ComponentStatus,
  failed,
  type PlannedComponent,
  provisioning,
  ready,
  type Stage,
  skipped,
  stageOf,
  waiting,
  waitingForPolicy,
} from '../stage.ts';
import { describeLost, isUsable, statusOfImage } from './status.ts';
import { templateOf } from './template.ts';

/** An image that machines of the workspace name. */
export interface WantedImage {
  /** Where it is, or is to be made. */
  ref: ObjectReference & { namespace: string };
  image: VMDiskImage | undefined;
  /** What the first machine that names it asks to be in it, by its template or by the policy's. */
  template: ReturnType<typeof templateOf> | undefined;
  /** Why the existing image does not count for this workspace. */
  refused?: Cause | undefined;
}

/** By name. */
export type WantedImages = ReadonlyMap<string, WantedImage>;

type ImageInput = Pick<Observed, 'workspace' | 'images' | 'policy'>;

/**
 * Where the images are, or are to be made: where a machine has one already (its reference never changes), where the workspace
 * found it before, in the first namespace of the policy that has one, else in the first of all.
 */
export function wantedImages({ workspace, images, policy }: ImageInput, ownMachines: Own['machines']): WantedImages {
  const { imageNamespaces } = policy.values;
  return new Map(
    imageNamesOf(workspace).map((name) => {
      const exists = (namespace: string | undefined) =>
        namespace !== undefined && images.has(keyOf({ namespace, name }));
      const found = [heldNamespace(workspace, name), ...imageNamespaces].find(exists);
      const ref = { namespace: usedNamespace(ownMachines, name) ?? found ?? imageNamespaces[0] ?? '', name };
      const image = images.get(keyOf(ref));
      const [first] = machinesOn(workspace, name);
      const template = first && templateOf(first, policy);
      const asker = { namespace: undefined, template: template && 'spec' in template ? template.spec : undefined };
      return [name, { ref, image, template, refused: image && whyNotTrusted(policy, image, asker) }];
    }),
  );
}

const machinesOn = ({ spec }: Pick<Workspace, 'spec'>, image: string) =>
  (spec.vms ?? []).filter(({ backingVMDiskImage }) => backingVMDiskImage === image);

/** The namespace that a machine of the workspace has its image of that name from. */
export const usedNamespace = (ownMachines: Own['machines'], image: string) =>
  ownMachines.find(({ spec }) => spec.vmDiskImageRef.name === image)?.spec.vmDiskImageRef.namespace;

interface Found
  extends Pick<Observed, 'workspace' | 'policy' | 'refusals' | 'imageNamespaces'>,
    Pick<Inside, 'machines'> {
  wanted: WantedImages;
}

/** The images that the machines' disks are cloned from: found, or made if they are missing. */
export const imageStage = (found: Found): Stage =>
  stageOf(
    'VMDiskImagesReady',
    'VMDiskImage',
    [...found.wanted.values()].map((one) => componentOf(found, one)),
  );

function componentOf(
  { workspace, policy, refusals, imageNamespaces, machines: found }: Found,
  { ref, image, template, refused }: WantedImage,
): PlannedComponent {
  const machines = machinesOn(workspace, ref.name);
  const planned = (status: ComponentStatus, writes: Action[] = []): PlannedComponent => ({
    name: ref.name,
    writes,
    status,
  });
  if ((refused || !isUsable(image)) && machines.every((machine) => hasDisk(machine, found))) {
    const message = `${nameOf(VMDiskImage, ref)} ${refused ? 'is of another author' : describeLost(image)}; the disks were cloned before.`;
    return planned(ready('DiskCloned', message));
  }
  if (refused) return planned(failed(refused.reason, refused.message));
  if (image) return planned(statusOfImage(image, machines));
  if (machines.every((machine) => isSkipped(machine, policy))) {
    return planned(skipped("The policy's ignoreOnDeploy skips its machines."));
  }
  if (!template || 'lacks' in template) return planned(missing(template?.lacks ?? ''));
  const why = whyMayNot(policy, imageNamespaces, ref, template.spec);
  if (why) return planned(why);
  const refusal = refusals.get(refusalKey(VMDiskImage, ref, workspace.metadata.name));
  if (refusal)
    return planned(failed('ImageRefused', `It was refused in namespace ${ref.namespace}: ${formatRefusal(refusal)}`));
  const made = newImage(ref, template.spec, {
    madeBy: 'compose-workspace',
    askedBy: { name: workspace.metadata.name },
  });
  const object = { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, ...madeForWorkspaces } } };
  return planned(provisioning('Creating', `It is being made in namespace ${ref.namespace}.`), [
    { do: 'create', resource: VMDiskImage, object, askedBy: workspace.metadata.name },
  ]);
}

/** The machine has its disk: the image is no longer needed. */
const hasDisk = ({ name, backingVMDiskImage }: WorkspaceMachine, found: Inside['machines']) =>
  found.some(
    ({ metadata, spec, status }) =>
      metadata.name === name &&
      spec.vmDiskImageRef.name === backingVMDiskImage &&
      status?.rootDisk?.cloned !== undefined,
  );

const missing = (lacks: string) =>
  waiting(
    'ImageMissing',
    `It exists in none of the policy's imageNamespaces, and cannot be made: ${lacks}. Create it, or add what is missing.`,
  );

function whyMayNot(
  policy: Policy,
  imageNamespaces: Observed['imageNamespaces'],
  ref: ObjectReference,
  spec: VMDiskImage['spec'],
): ComponentStatus | undefined {
  if (!isValid(policy, 'imageNamespaces')) return waitingForPolicy('imageNamespaces');
  const missing = whyNoNamespace(ref, imageNamespaces.get(ref.namespace ?? ''));
  if (missing) return waiting(missing.reason, missing.message);
  const why = whyNotMade(policy, ref.namespace, spec);
  return why && failed(why.reason, why.message);
}
