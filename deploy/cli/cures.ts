import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName } from '../../shared/policy.ts';
import { makeSecret } from './secrets.ts';
import { formatPlace, formatTyped } from './subject.ts';

/** What would help, and what one types for it. */
export interface Cure {
  help: string;
  commands: string[];
}

/** What `policy set` would replace as a whole: a list of places keeps what is in it. */
export const editPolicy = `kubectl edit configmap ${policyName} -n ${operatorNamespace}`;

const editOf = ({ metadata }: VMDiskImage) => `kubectl edit vmdi ${metadata.name} -n ${metadata.namespace}`;
const retryOf = (image: VMDiskImage) => `ot-functions retry ${image.metadata.namespace}/${image.metadata.name}`;

/** By the reason word of the image's condition Ready: a closed set, so that no message is read for its words. */
const byReason: Readonly<Record<string, (image: VMDiskImage) => Cure>> = {
  NotFound: (image) => ({
    help: 'Put the image where its url says, or mend the url; then ask again.',
    commands: [editOf(image), retryOf(image)],
  }),
  AccessDenied: (image) => ({
    help: `See that the keys in Secret ${image.spec.secretRef ?? '(none is named in secretRef)'} may read the url; then ask again.`,
    commands: [`kubectl describe secret ${image.spec.secretRef ?? ''} -n ${image.metadata.namespace}`, retryOf(image)],
  }),
  DiskTooSmall: (image) => ({
    help: 'Make diskSize at least the virtual size of the image; that alone asks again.',
    commands: [editOf(image)],
  }),
  ChecksumMismatch: (image) => ({
    help: 'Mend the checksum, or what lies at the url; then ask again.',
    commands: [editOf(image), retryOf(image)],
  }),
  SyncTimeout: (image) => ({
    help: "Give downloads more time, by the policy's syncTimeout, or look why the store is slow; then ask again.",
    commands: ['ot-functions policy set syncTimeout 8h', retryOf(image)],
  }),
  SourceNotAllowed: () => ({
    help: "Add the url's place to the policy's allowedSources; that alone asks again.",
    commands: ['ot-functions policy', editPolicy],
  }),
  StorageClassMissing: (image) => ({
    help: 'Name a StorageClass that is there, or make this one.',
    commands: ['kubectl get storageclasses', editOf(image)],
  }),
  SnapshotClassMissing: (image) => ({
    help: 'Name a VolumeSnapshotClass that is there, or make this one.',
    commands: ['kubectl get volumesnapshotclasses', editOf(image)],
  }),
  DriverMismatch: (image) => ({
    help: 'Name a VolumeSnapshotClass whose driver is the provisioner of the StorageClass.',
    commands: ['ot-functions doctor', editOf(image)],
  }),
  SnapshotTimeout: (image) => ({
    help: 'Look what keeps the snapshot, at its VolumeSnapshot and its driver; then ask again.',
    commands: [`kubectl describe volumesnapshots -n ${image.metadata.namespace}`, retryOf(image)],
  }),
  InvalidPolicy: () => ({ help: 'Mend the policy.', commands: ['ot-functions policy'] }),
  PolicyInvalid: () => ({ help: 'Mend the policy.', commands: ['ot-functions policy'] }),
};

/** What helps an image that has Failed. */
export function cureOfFailed(image: VMDiskImage, reason: string | undefined): Cure {
  const known = reason === undefined ? undefined : byReason[reason];
  return known?.(image) ?? { help: 'When its cause is gone, ask again.', commands: [retryOf(image)] };
}

/** What helps an image that waits for the next attempt. */
export const cureOfRetrying = (image: VMDiskImage): Cure => ({
  help: 'Nothing, if the cause is gone by then; to try at once, ask anew.',
  commands: [retryOf(image)],
});

/** What helps images that wait for a Secret; each looks again by itself. */
export const cureOfNoSecret = (ref: ObjectReference): Cure => ({
  help: `Make Secret ${formatPlace(ref)}, which secretRef names and which is not there; images that name it wait for it.`,
  commands: [makeSecret(ref)],
});

/** Where nothing has to be done but wait. */
export const waiting = (subject: Parameters<typeof formatTyped>[0]): Cure => ({
  help: 'It is on its way: wait.',
  commands: [`ot-functions wait ${formatTyped(subject)}`],
});
