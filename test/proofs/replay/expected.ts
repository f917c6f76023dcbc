import type { Sizes } from './clone.ts';

/** The expected results of a scenario: those of the recording, corrected if they show a mistake, with a comment that says why. */
export interface Expected {
  /**
   * The end of each attempt: phase, reason, counted attempts. `Syncing` if the recorded functions or a user ended it, since then it is
   * only known that nothing had failed. For a machine: the disk that it requests, and that the disk is ready.
   */
  ends: readonly string[];
  /** A message that it has at the end or before. */
  says?: RegExp;
  policy?: Readonly<Record<string, string>>;
  sizes?: Sizes;
}

const ready = (...before: string[]): Expected => ({ ends: [...before, 'Succeeded SnapshotReady 1'] });
const failed = (reason: string, says?: RegExp): Expected => ({
  ends: [`Failed ${reason} 1`],
  ...(says ? { says } : {}),
});
const twice = (says: RegExp): Expected => ({
  ends: ['Retrying ImportFailed 1', 'Failed ImportFailed 2'],
  policy: { retryLimit: '1' },
  says,
});
const once = (reason: string, says: RegExp): Expected => ({ ...failed(reason, says), policy: { retryLimit: '0' } });
const notStarted = (times: number, says: RegExp): Expected => ({
  ends: Array.from({ length: times }, () => 'Retrying NotStarted 0'),
  says,
});
const disk = (size: string, sizes: Sizes): Expected => ({ ends: [`disk ${size}, ready`], sizes });
const block = { diskSize: '1Gi', restoreSize: '1Gi' };
const filesystem = { diskSize: '1Gi', restoreSize: '1138166334' };
const small = { diskSize: '256Mi', restoreSize: '284541584' };

export const expected: Readonly<Record<string, Expected>> = {
  '00-storageprofile-without-properties': {
    ends: ['Retrying ImportFailed 1', 'Succeeded SnapshotReady 2'],
    says: /ErrClaimNotValid: no accessMode specified in StorageProfile fs/,
  },
  '01-s3-qcow2-block-wffc': ready(),
  '02-http-qcow2-block': ready(),
  '03-s3-qcow2-gz': ready(),
  '04-s3-raw-xz': ready(),
  '05-http-raw-xz-filesystem': ready(),
  // Not as recorded: the first attempt was ended as ImporterReplaced in the round for scratch space.
  '06-s3-qcow2-filesystem': { ...ready('Syncing') },
  '07-http-slow-with-progress': ready(),
  '10-s3-404': failed('NotFound', /NoSuchKey/),
  '11-http-404': failed('NotFound', /got 404/),
  '12-wrong-secret-key': failed('AccessDenied', /SignatureDoesNotMatch/),
  '13-unknown-access-key': failed('AccessDenied', /InvalidAccessKeyId/),
  '14-secret-missing-then-created': { ...ready(), says: /CreateContainerConfigError: secret "later" not found/ },
  // CDI does not report it: qemu-img fills the missing part with zeros.
  '15-truncated-qcow2-succeeds': { ...ready() },
  '16-s3-cut-midway': twice(/failed to pull image: unexpected EOF/),
  '17-too-large-s3-restarts': failed('DiskTooSmall', /too small to contain|larger than the reported available storage/),
  '18-html-page-s3': ready(),
  '19-html-page-http': ready(),
  // Not as recorded: was tried again, and no attempt can mend it.
  '20-object-of-18-bytes': {
    ...failed('ImportFailed', /^Not tried again: .*could not process image header: unexpected EOF/),
  },
  // Not as recorded: was tried again, and no attempt can mend it.
  '21-empty-object': { ...failed('ImportFailed', /^Not tried again: .*could not process image header: EOF/) },
  '22-checksum-mismatch': failed('ChecksumMismatch', /checksum mismatch/),
  '23-corrupt-qcow2': twice(/qcow2: Image is corrupt/),
  '24-too-large-http': failed('DiskTooSmall', /too small to contain|larger than the reported available storage/),
  '25-http-cut': twice(/failed to pull image: unexpected EOF/),
  '26-truncated-gz': twice(/failed to pull image: unexpected EOF/),
  '27-pod-deleted-by-hand': { ends: ['Retrying ImporterReplaced 1', 'Syncing'], says: /^The importer Pod was deleted/ },
  '28-image-deleted-midway': { ends: ['Syncing'] },
  '29-datavolume-deleted-by-hand': { ends: ['Retrying DataVolumeGone 1', 'Syncing'], says: /r1-a1 was deleted/ },
  // Not as recorded: the message was Downloading until syncTimeout, although nothing was downloaded.
  '30-quota-on-scratch': { ...notStarted(1, /^Waiting for scratch space, attempt 1\. .*exceeded quota: q/) },
  '31-quota-on-target': notStarted(2, /^Waiting for the importer, attempt 1\. ErrExceededQuota: /),
  // Not as recorded: two attempts were ended and counted in seconds; the kubelet gets the image as soon as it can.
  '32-importer-image-missing': {
    ends: ['Retrying NotStarted 0', 'Retrying NotStarted 0', 'Succeeded SnapshotReady 1'],
    says: /^Waiting for the importer, attempt 1\. ImagePullFailed: failed to pull image: localhost/,
  },
  '33-snapshot-class-with-missing-secret': failed(
    'SnapshotTimeout',
    /^Downloaded; waiting for the snapshot\. .*cannot get credentials/,
  ),
  '34-snapshotter-sidecar-down': ready(),
  '35-importer-killed-9': once(
    'ImportFailed',
    /^Given up after 1 attempt: The importer was killed \(exit code 137\)\./,
  ),
  '36-s3-body-stalls': once('SyncTimeout', /Not done within syncTimeout/),
  '37-cert-configmap-missing': notStarted(2, /^Waiting for the importer.* needs ConfigMap vmdi-farm\/nosuchcm/),
  '38-secret-lacks-key': notStarted(2, /CreateContainerConfigError: couldn't find key accessKeyId/),
  '39-dns': once('ImportFailed', /lookup nosuchhost\.example\.invalid/),
  '40-connection-refused': once('ImportFailed', /no route to host/),
  '41-no-such-bucket': failed('NotFound', /NoSuchBucket/),
  // Not as recorded: both attempts were ended as ImporterReplaced in the round for scratch space.
  '42-false-ImporterReplaced': { ends: ['Syncing', 'Syncing'] },
  '50-clone-block-wffc-cross-namespace': disk('as snapshot', block),
  '51-clone-block-larger': disk('2Gi', { ...block, wanted: '2Gi' }),
  // CDI adds the overhead of a file system to a requested size; the size of the snapshot already includes it.
  '52-clone-filesystem-expanded': disk('as snapshot', filesystem),
  '53-clone-filesystem-host-assisted': disk('as snapshot', small),
  '54-clone-same-namespace': disk('as snapshot', filesystem),
};
