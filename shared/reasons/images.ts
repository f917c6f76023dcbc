import { makeSecret } from '../kinds/core/secret.ts';
import { releaseHolds, requestDownload } from '../kinds/pelotech/vm-disk-image.ts';
import type { Row } from './row.ts';

const edit = 'kubectl edit vmdi NAME -n NAMESPACE';
const retry = requestDownload({ namespace: 'NAMESPACE', name: 'NAME' });

const upload = {
  help: 'Correct url, which starts a download, or upload the image to it and then retry.',
  run: [edit, retry],
};
const republish = {
  help: 'Correct url, which starts a download, or publish a whole disk image there and then retry.',
  run: [edit, retry],
};
const grant = {
  help: 'Check that the keys in Secret SECRET may read the url; then retry.',
  run: ['kubectl describe secret SECRET -n NAMESPACE', retry],
};
const queued = 'the image is queued within ten minutes, or at once with the last command.';
const createSecret = {
  help: `Create Secret NAMESPACE/SECRET with both keys; ${queued}`,
  run: [makeSecret({ namespace: 'NAMESPACE', name: 'SECRET' }), retry],
};
const adoptAnother = {
  help: 'Name another VolumeSnapshot in annotation pelotech.ot/adopt-snapshot, or remove the annotation to download the image.',
  run: [
    'kubectl get volumesnapshots -n NAMESPACE',
    'kubectl annotate vmdi NAME -n NAMESPACE pelotech.ot/adopt-snapshot-',
  ],
};
const retried = { help: 'Correct the cause that the message names, then retry.', run: [retry] };

/** Reasons of VMDiskImages, of the policy and the Lease, and of publications. */
export const imageReasons = {
  Queued: 'It waits for its inspection or a free slot; `ot-functions why` says which.',
  QueuePaused: { means: 'The queue is paused: concurrency is 0.', help: 'Resume it.', run: ['ot-functions resume'] },
  BudgetSpent: {
    means: "The policy's egressBudget is spent.",
    help: 'Wait until the time that the message names, raise egressBudget, or let one image start with annotation pelotech.ot/ignore-budget=true.',
    run: [
      'ot-functions cost',
      'kubectl annotate vmdi NAME -n NAMESPACE pelotech.ot/ignore-budget=true',
      'ot-functions policy set egressBudget VALUE',
    ],
  },
  NewRevision: 'Its content is wanted again: another spec, a refresh or sync-requested.',
  Adopting: 'It takes over an existing snapshot instead of a download.',
  SyncStarted: 'Its download has begun.',
  SyncBlocked: {
    means: 'The importer, its scratch space or the clone cannot start; the message says why.',
    help: 'Correct what the message names; a download that has not started within startTimeout is tried again.',
    run: ['kubectl get dv,pods,pvc -n NAMESPACE'],
  },
  Downloaded: 'The download is complete; its snapshot is being made.',
  Cloned: 'The clone is complete.',
  SnapshotReady: 'Its snapshot is ready to clone.',
  SnapshotAdopted: 'The snapshot that it adopts is ready to clone.',
  SnapshotMade: 'Its snapshot exists after all.',
  SnapshotRequested: 'Its snapshot is requested again.',
  SnapshotError: 'The snapshotter reports an error and tries again.',
  RevisionPinned: 'The revision that use-revision names is in use.',
  NewestUsed: 'The newest revision is in use again.',
  RevisionNotKept: {
    means: 'The revision that use-revision names has no snapshot any more.',
    help: 'Name a revision whose snapshot is kept, or take the annotation off.',
    run: ['kubectl annotate vmdi NAME -n NAMESPACE pelotech.ot/use-revision-'],
  },
  SnapshotLost: {
    means: 'The snapshot that machines are cloned from no longer exists.',
    help: 'Download it again.',
    run: [retry],
  },
  NotFound: { means: 'Nothing is at the url.', ...upload },
  AccessDenied: { means: 'The keys may not read the url.', ...grant },
  SourceMissing: { means: 'Nothing is at the url; found before a slot was spent.', ...upload },
  SourceForbidden: { means: 'The keys may not read the url; found before a slot was spent.', ...grant },
  NotAnImage: { means: 'What is at the url is no disk image.', ...republish },
  ImageTruncated: { means: 'The image at the url was cut off by its upload.', ...republish },
  BackingFile: { means: 'The image at the url needs another file.', ...republish },
  DiskTooSmall: {
    means: 'diskSize is below the virtual size of the image.',
    help: 'Make diskSize at least the virtual size of the image; that change starts a new download.',
    run: [edit],
  },
  ChecksumMismatch: {
    means: 'The checksum is of another file, or the file was changed.',
    help: 'Correct the checksum, which starts a download, or the file at the url and then retry.',
    run: [edit, retry],
  },
  ImportFailed: {
    means: 'The importer ended with an error.',
    help: 'Correct url, which starts a download, or what else the message names, and then retry.',
    run: [edit, retry],
  },
  ImporterRestarted: { means: 'The importer started again from the first byte.', ...retried },
  ImporterReplaced: { means: 'The importer Pod was deleted.', ...retried },
  ImporterEvicted: { means: 'The importer Pod was evicted or lost with its node.', ...retried },
  DataVolumeFailed: { means: 'CDI gave the DataVolume up.', ...retried },
  DataVolumeGone: { means: 'The DataVolume was deleted.', ...retried },
  AttemptsSpent: { means: 'It has been tried as often as retryLimit allows.', ...retried },
  SyncTimeout: {
    means: 'The download was not complete within syncTimeout.',
    help: "Increase the policy's syncTimeout, or find out why the store is slow; then retry.",
    run: ['ot-functions policy set syncTimeout 8h', retry],
  },
  SecretMissing: { means: 'The Secret that secretRef names does not exist.', ...createSecret },
  SecretInvalid: {
    means: 'The Secret lacks a key, or a key has a line break in it.',
    help: `Correct the key of Secret NAMESPACE/SECRET that the message names; ${queued}`,
    run: ['kubectl edit secret SECRET -n NAMESPACE', retry],
  },
  ConfigMapMissing: {
    means: 'The ConfigMap that certConfigMap names does not exist.',
    help: `Create the ConfigMap that certConfigMap names; ${queued}`,
    run: ['kubectl create configmap CONFIGMAP -n NAMESPACE --from-file=ca.pem=FILE', retry],
  },
  StorageClassMissing: {
    means: 'The StorageClass does not exist.',
    help: 'Name an existing StorageClass, or create this one.',
    run: ['kubectl get storageclasses', edit],
  },
  SnapshotClassMissing: {
    means: 'The VolumeSnapshotClass does not exist.',
    help: 'Name an existing VolumeSnapshotClass, or create this one.',
    run: ['kubectl get volumesnapshotclasses', edit],
  },
  DriverMismatch: {
    means: 'The two classes have different drivers.',
    help: 'Name a VolumeSnapshotClass whose driver is the provisioner of the StorageClass.',
    run: ['ot-functions doctor', edit],
  },
  VolumeLost: { means: 'The downloaded volume was lost before its snapshot was ready.', ...retried },
  SnapshotTimeout: {
    means: 'The snapshot was not ready within snapshotTimeout; the volume is kept.',
    help: 'Find out what delays the snapshot in its VolumeSnapshot and its driver; then retry.',
    run: ['kubectl describe volumesnapshots -n NAMESPACE', retry],
  },
  SnapshotMissing: { means: 'The snapshot to adopt does not exist.', ...adoptAnother },
  SnapshotNameInvalid: { means: 'adopt-snapshot names no valid snapshot.', ...adoptAnother },
  SnapshotOfAnotherImage: { means: 'The snapshot to adopt belongs to another image.', ...adoptAnother },
  SnapshotTerminating: { means: 'The snapshot to adopt is being deleted.', ...adoptAnother },
  SnapshotClassMismatch: {
    means: 'The snapshot to adopt has another VolumeSnapshotClass.',
    help: 'Set snapshotClass to the class that the message names.',
    run: [edit],
  },
  SnapshotNotReady: 'The snapshot is not ready to clone.',
  SnapshotTooLarge: {
    means: 'The snapshot to adopt is larger than diskSize.',
    help: 'Set diskSize to at least the restoreSize that the message names.',
    run: [edit],
  },
  Inspected: 'The source was inspected and may be downloaded.',
  NotInspected: 'The source could not be inspected; it is downloaded uninspected.',
  UnknownFormat: 'The source has no known format; it is downloaded as a raw disk.',
  SourceUnreachable: {
    means: 'The source cannot be reached; it is tried again.',
    help: 'Correct url if its host is wrong, or wait until its server answers.',
    run: [edit],
  },
  SourceChanged: 'The object behind the url has changed; it is downloaded again.',
  SourceUnstable: 'The object behind the url changes at each look; it is not downloaded again.',
  SourceUnreadable: 'The object behind the url cannot be read any more; the snapshot stays usable.',
  RefreshInvalid: { means: 'refresh does not parse.', help: 'Correct refresh.', run: [edit] },
  Referenced: 'It is deleted, but machines use it.',
  NotReferenced: 'Nothing uses it.',
  DeletionHeld: {
    means: 'It is deleted, but machines use it: it stays until the last of them is deleted.',
    help: 'Delete what uses it, or delete the image at once with the command: machines keep their disks, which are clones.',
    run: [`kubectl annotate vmdi NAME -n NAMESPACE ${releaseHolds}=true`],
  },
  TakenDown: 'It is being deleted with its volumes and snapshots.',
  Pruned: 'It was unused for longer than the policy says, and is deleted.',
  WouldBePruned: "It would be deleted as unused, if the policy's prune were WhenUnreferenced.",
  ImageGone: 'The image of this object does not exist any more: the object is deleted.',
  SlotFreed: {
    means: 'The importer has been Terminating for over ten minutes; its slot is given to another image.',
    help: 'Look at its node.',
    run: ['kubectl get pods -n NAMESPACE -o wide'],
  },
  SlotHeld:
    'It holds a slot although its attempt is over: an importer that works on, or a DataVolume that CDI does not finish.',
  SlotsRebuilt: 'The Lease was missing or not readable, and is rebuilt from what downloads.',
  StatusRebuilt: 'The status was empty or not readable, and is rebuilt.',
  UnknownPhase: 'Another version of the functions wrote the phase; the image is left as it is.',
  UnknownPolicyKey: {
    means: 'No function reads this key of the policy.',
    help: 'Correct the name of the key.',
    run: ['ot-functions policy'],
  },
  PublisherNotAuthenticated: 'A publication has no valid signature or token; nothing is written.',
  PublishedImageRefused: {
    means: 'The API server refused a publication, most often because a person applied the image.',
    help: 'Delete the image, or the fields that the message names, and publish again; a hand-made image stays the person’s.',
  },
  PublishedImageNotMade: 'A publication was not applied: it is older, of the future, or not allowed.',
} as const satisfies Readonly<Record<string, Row>>;
