import { releaseHolds, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName } from '../../shared/policy.ts';
import { makeSecret } from './secrets.ts';
import { formatTyped } from './target.ts';

/** How to correct a problem, and the commands for it. */
export interface Remedy {
  help: string;
  commands: string[];
}

/** `policy set` would replace a whole list; `edit` lets the user add to it. */
export const editPolicy = `kubectl edit configmap ${policyName} -n ${operatorNamespace}`;

const editOf = ({ metadata }: VMDiskImage) => `kubectl edit vmdi ${metadata.name} -n ${metadata.namespace}`;
const retryOf = (image: VMDiskImage) => `ot-functions retry ${keyOf(image.metadata)}`;

const missingInput = ({ metadata: { namespace }, spec: { secretRef = '' } }: VMDiskImage): Remedy => ({
  help: `Create Secret ${namespace}/${secretRef} with both keys; the image is queued within ten minutes.`,
  commands: [makeSecret({ namespace, name: secretRef })],
});

const republish = (image: VMDiskImage): Remedy => ({
  help: 'Publish a whole disk image at the url, or correct the url; then retry.',
  commands: [editOf(image), retryOf(image)],
});

export const correctPolicy = (): Remedy => ({ help: 'Mend the policy.', commands: ['ot-functions policy'] });

/** By the reason of the condition Ready of the image: a closed set, so no message is parsed. */
const byReason: Readonly<Record<string, (image: VMDiskImage) => Remedy>> = {
  NotFound: (image) => ({
    help: 'Upload the image to its url, or correct the url; then retry.',
    commands: [editOf(image), retryOf(image)],
  }),
  AccessDenied: (image) => ({
    help: `Check that the keys in Secret ${image.spec.secretRef ?? '(none is named in secretRef)'} may read the url; then retry.`,
    commands: [`kubectl describe secret ${image.spec.secretRef ?? ''} -n ${image.metadata.namespace}`, retryOf(image)],
  }),
  SourceMissing: (image) => ({
    help: 'Upload the image to its url, or correct the url; then retry.',
    commands: [editOf(image), retryOf(image)],
  }),
  SourceForbidden: (image) => ({
    help: `Check that the keys in Secret ${image.spec.secretRef ?? '(none is named in secretRef)'} may read the url; then retry.`,
    commands: [`kubectl describe secret ${image.spec.secretRef ?? ''} -n ${image.metadata.namespace}`, retryOf(image)],
  }),
  NotAnImage: republish,
  ImageTruncated: republish,
  BackingFile: republish,
  DiskTooSmall: (image) => ({
    help: 'Make diskSize at least the virtual size of the image; that change starts a new download.',
    commands: [editOf(image)],
  }),
  ChecksumMismatch: (image) => ({
    help: 'Correct the checksum, or the file at the url; then retry.',
    commands: [editOf(image), retryOf(image)],
  }),
  SyncTimeout: (image) => ({
    help: "Increase the policy's syncTimeout, or find out why the store is slow; then retry.",
    commands: ['ot-functions policy set syncTimeout 8h', retryOf(image)],
  }),
  SourceNotAllowed: () => ({
    help: "Add the line that the message names to the policy's allowedSources, if it may be downloaded; that starts a new download.",
    commands: ['ot-functions policy', editPolicy],
  }),
  SecretMissing: missingInput,
  SecretInvalid: missingInput,
  ConfigMapMissing: (image) => ({
    help: 'Create the ConfigMap that certConfigMap names; the image is queued within ten minutes.',
    commands: [
      `kubectl create configmap ${image.spec.certConfigMap ?? ''} -n ${image.metadata.namespace} --from-file=ca.pem=FILE`,
    ],
  }),
  StorageClassMissing: (image) => ({
    help: 'Name an existing StorageClass, or create this one.',
    commands: ['kubectl get storageclasses', editOf(image)],
  }),
  SnapshotClassMissing: (image) => ({
    help: 'Name an existing VolumeSnapshotClass, or create this one.',
    commands: ['kubectl get volumesnapshotclasses', editOf(image)],
  }),
  DriverMismatch: (image) => ({
    help: 'Name a VolumeSnapshotClass whose driver is the provisioner of the StorageClass.',
    commands: ['ot-functions doctor', editOf(image)],
  }),
  SnapshotTimeout: (image) => ({
    help: 'Find out what delays the snapshot in its VolumeSnapshot and its driver; then retry.',
    commands: [`kubectl describe volumesnapshots -n ${image.metadata.namespace}`, retryOf(image)],
  }),
  InvalidPolicy: correctPolicy,
  PolicyInvalid: correctPolicy,
};

/** How to correct an image that is Failed. */
export function remedyForFailed(image: VMDiskImage, reason: string | undefined): Remedy {
  const known = reason === undefined ? undefined : byReason[reason];
  return known?.(image) ?? { help: 'Correct the cause, then retry.', commands: [retryOf(image)] };
}

/** How to correct an image that waits for the next attempt. */
export const remedyForRetrying = (image: VMDiskImage): Remedy => ({
  help: 'Correct the cause before the next attempt; to retry immediately, run the command.',
  commands: [retryOf(image)],
});

/** How to correct images that wait for a Secret; each checks again by itself. */
export const remedyForMissingSecret = (ref: ObjectReference): Remedy => ({
  help: `Create Secret ${keyOf(ref)}, which secretRef names and which does not exist; images that name it wait for it.`,
  commands: [makeSecret(ref)],
});

/** Of an image that is being deleted while machines use it. Their disks are clones. */
export const remedyForHeld = ({ name, namespace }: ObjectReference): Remedy => ({
  help: 'Delete what uses it; an admin can delete it earlier, and keep the machines:',
  commands: [`kubectl annotate vmdi ${name} -n ${namespace} ${releaseHolds}=true`],
});

/** The only thing to do is to wait. */
export const waiting = (target: Parameters<typeof formatTyped>[0]): Remedy => ({
  help: 'It is in progress: wait.',
  commands: [`ot-functions wait ${formatTyped(target)}`],
});
