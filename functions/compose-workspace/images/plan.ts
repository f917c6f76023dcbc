import type { Action } from '../../../shared/actions.ts';
import { newImage, whyNotMade } from '../../../shared/images/new-image.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { madeForWorkspaces, type WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { formatRefusal, refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { isValid, type Policy } from '../../../shared/policy.ts';
import { heldNamespace, imageNamesOf } from '../../../shared/workspaces/images.ts';
import { contains } from '../contains.ts';
import type { Observed } from '../observed.ts';
import { isSkipped } from '../skipped.ts';
import { component, failed, provisioning, ready, type Stage, type Standing, skipped, waiting } from '../stage.ts';

type Spec = VMDiskImage['spec'];

/** The images that the machines' disks are cloned from: found, or made where they are missing. */
export function imageStage(observed: Observed): Stage {
  const looks = imageNamesOf(observed.workspace).map((name) => lookAt(observed, name));
  return {
    condition: 'VMDiskImagesReady',
    writes: looks.flatMap(({ writes }) => writes),
    components: looks.map(({ name, standing }) => component('VMDiskImage', name, standing)),
  };
}

/**
 * Where the image of that name is, or is to be made: where a machine has it already (its reference never changes), where the
 * workspace found it before, in the first namespace of the policy that has one, else in the first of all.
 */
export function imageRefOf(observed: Observed, name: string): ObjectReference & { namespace: string } {
  const { workspace, images, policy } = observed;
  const { imageNamespaces } = policy.values;
  const isThere = (namespace: string | undefined) => namespace !== undefined && images.has(keyOf({ namespace, name }));
  const held = heldNamespace(workspace, name);
  const namespace =
    usedNamespace(observed, name) ?? (isThere(held) ? held : imageNamespaces.find(isThere)) ?? imageNamespaces[0] ?? '';
  return { namespace, name };
}

/** Where a machine of the workspace has its image of that name from. */
export const usedNamespace = ({ workspace, inside }: Pick<Observed, 'workspace' | 'inside'>, image: string) =>
  inside?.machines.find((machine) => machine.spec.vmDiskImageRef.name === image && owns(workspace, machine))?.spec
    .vmDiskImageRef.namespace;

/** Disks can be cloned from it. */
export const isUsable = (image: VMDiskImage | undefined): image is VMDiskImage =>
  image !== undefined &&
  image.metadata.deletionTimestamp === undefined &&
  (image.status?.phase === 'Succeeded' || conditionOf(image.status?.conditions, 'Ready')?.status === 'True');

interface Look {
  name: string;
  writes: Action[];
  standing: Standing;
}

function lookAt(observed: Observed, name: string): Look {
  const { workspace, policy, images, refusals } = observed;
  const machines = (workspace.spec.vms ?? []).filter(({ backingVMDiskImage }) => backingVMDiskImage === name);
  const [first] = machines;
  const ref = imageRefOf(observed, name);
  const image = images.get(keyOf(ref));
  const look = (standing: Standing, writes: Action[] = []): Look => ({ name, writes, standing });
  if (!isUsable(image) && machines.every((machine) => hasDisk(observed, machine))) {
    const message = `VMDiskImage ${keyOf(ref)} ${describeLost(image)}; the disks were cloned before.`;
    return look(ready('DiskCloned', message));
  }
  if (image) return look(standingOfImage(image, machines));
  if (machines.every((machine) => isSkipped(machine, policy))) {
    return look(skipped('Its machines are left out, as the policy says of ignoreOnDeploy.'));
  }
  const found = first && templateOf(first, policy);
  if (!found || 'lacks' in found) return look(missing(ref, found?.lacks ?? ''));
  const why = whyMayNot(observed, ref, found.spec);
  if (why) return look(why);
  const refusal = refusals.get(refusalKey(VMDiskImage, ref));
  if (refusal) return look(failed('ImageRefused', `VMDiskImage ${keyOf(ref)} was refused: ${formatRefusal(refusal)}`));
  const made = newImage(ref, found.spec, { madeBy: 'compose-workspace', askedBy: { name: workspace.metadata.name } });
  const object = { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, ...madeForWorkspaces } } };
  return look(provisioning('Creating', `VMDiskImage ${keyOf(ref)} is being made.`), [
    { do: 'create', resource: VMDiskImage, object },
  ]);
}

function standingOfImage(image: VMDiskImage, machines: readonly WorkspaceMachine[]): Standing {
  const { metadata, status } = image;
  const called = `VMDiskImage ${keyOf(metadata)}`;
  if (metadata.deletionTimestamp)
    return provisioning('ImageTerminating', `${called} is being deleted; waiting until it is gone.`);
  const others = differing(image, machines).join(', ');
  if (isUsable(image)) {
    return others === ''
      ? ready('Succeeded', `${called} is there.`)
      : ready('TemplateMismatch', `${called} is there and is used, though vmDiskImageTemplate has another ${others}.`);
  }
  const { phase, message = '' } = status ?? {};
  // Its progress and its place in the queue are the image's to tell: they change all the time.
  if (phase === 'Failed') {
    const cure =
      others === '' ? '' : ` Its ${others} is not that of vmDiskImageTemplate: delete it to have it made anew.`;
    return failed('ImageFailed', `${called} Failed: ${message}${cure}`);
  }
  return phase === undefined
    ? provisioning('ImageQueued', `${called} has not been looked at yet.`)
    : provisioning(`Image${phase}`, `${called} is ${phase}.`);
}

/** The fields in which an image is not what one of the machines would have it made as. */
const differing = ({ spec }: VMDiskImage, machines: readonly WorkspaceMachine[]): string[] => [
  ...new Set(
    machines.flatMap(({ vmDiskImageTemplate: template }) =>
      template ? (Object.keys(template) as (keyof Spec)[]).filter((key) => !contains(spec[key], template[key])) : [],
    ),
  ),
];

/** The machine has its disk: nothing of the image is needed any more. */
const hasDisk = ({ inside }: Observed, { name, backingVMDiskImage }: WorkspaceMachine) =>
  inside?.machines.some(
    ({ metadata, spec, status }) =>
      metadata.name === name &&
      spec.vmDiskImageRef.name === backingVMDiskImage &&
      status?.rootDisk?.cloned !== undefined,
  ) === true;

const describeLost = (image: VMDiskImage | undefined) => {
  if (!image) return 'is gone';
  return image.metadata.deletionTimestamp ? 'is being deleted' : `is ${image.status?.phase ?? 'not there yet'}`;
};

const missing = (ref: ObjectReference, lacks: string) =>
  waiting(
    'ImageMissing',
    `Expected VMDiskImage ${ref.name} in one of the policy's imageNamespaces, or what to make it from, found neither: ${lacks}.`,
  );

const policyKeys = ['imageUrlTemplate', 'imageStorageClass', 'imageSnapshotClass'] as const;

/** What a missing image is made of: the machine's template, else what the policy makes of a bare name. */
function templateOf(machine: WorkspaceMachine, policy: Policy): { spec: Spec } | { lacks: string } {
  const { backingVMDiskImage: name, vmDiskImageTemplate, version, diskSize } = machine;
  if (vmDiskImageTemplate) return { spec: vmDiskImageTemplate };
  const { values } = policy;
  const broken = [...policyKeys, 'imageSecretRef', 'imageDiskSize'] as const;
  const unreadable = broken.find((key) => !isValid(policy, key));
  if (unreadable) return { lacks: `the policy's ${unreadable} does not parse` };
  const { imageUrlTemplate, imageStorageClass, imageSnapshotClass, imageSecretRef } = values;
  const size = values.imageDiskSize ?? diskSize;
  const lacks = [
    ...policyKeys.filter((key) => values[key] === undefined),
    ...(size === undefined ? ['imageDiskSize'] : []),
  ];
  if (!imageUrlTemplate || !imageStorageClass || !imageSnapshotClass || !size) {
    return { lacks: `there is no vmDiskImageTemplate, and the policy has no ${lacks.join(', ')}` };
  }
  if (imageUrlTemplate.includes('{version}') && !version) {
    return { lacks: `machine ${machine.name} has no version, which the policy's imageUrlTemplate asks for` };
  }
  const url = imageUrlTemplate.replaceAll('{name}', name).replaceAll('{version}', version ?? '');
  const sourceType = sourceTypeOf(url, imageSecretRef);
  return {
    spec: {
      name,
      url,
      sourceType,
      storageClass: imageStorageClass,
      snapshotClass: imageSnapshotClass,
      diskSize: size,
      // Only S3 gets the policy's Secret: elsewhere it would be sent to whoever owns the url.
      ...(sourceType === 's3' && imageSecretRef ? { secretRef: imageSecretRef } : {}),
    },
  };
}

const sourceTypeOf = (url: string, secretRef: string | undefined): Spec['sourceType'] => {
  if (/^(docker|oci-archive):/.test(url)) return 'registry';
  return secretRef ? 's3' : 'http';
};

function whyMayNot({ policy, imageNamespaces }: Observed, ref: ObjectReference, spec: Spec): Standing | undefined {
  if (!isValid(policy, 'imageNamespaces')) {
    return waiting('InvalidPolicy', "Waiting until the policy's imageNamespaces parses again.");
  }
  const namespace = imageNamespaces.get(ref.namespace ?? '');
  if (!namespace || namespace.metadata.deletionTimestamp) {
    const found = namespace ? 'it being deleted' : 'none';
    const message = `Expected namespace ${ref.namespace} for VMDiskImage ${ref.name}, found ${found}; make the namespace.`;
    return waiting('ImageNamespaceMissing', message);
  }
  const why = whyNotMade(policy, spec);
  return why && failed(why.reason, why.message);
}
