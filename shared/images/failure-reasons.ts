/** How an attempt may fail. */
const attemptFailures = [
  'NotFound',
  'AccessDenied',
  'DiskTooSmall',
  'ChecksumMismatch',
  'ImportFailed',
  'ImagePullFailed',
  'ImporterRestarted',
  'ImporterReplaced',
  'ImporterEvicted',
  'DataVolumeFailed',
  'DataVolumeGone',
  'CloneFailed',
  'NotStarted',
  'SyncTimeout',
] as const;
export type AttemptFailure = (typeof attemptFailures)[number];

/** Of these the server handed nothing out: no byte was downloaded. */
export const refusals: ReadonlySet<AttemptFailure> = new Set(['NotFound', 'AccessDenied']);

/** Why an image has Failed, as its condition Ready says: with an attempt, before there was one, or after it. */
export const failureReasons = [
  ...attemptFailures,
  'AttemptsSpent',
  'SourceNotAllowed',
  'SourceMissing',
  'SourceForbidden',
  'NotAnImage',
  'ImageTruncated',
  'BackingFile',
  'SecretMissing',
  'SecretInvalid',
  'ConfigMapMissing',
  'StorageClassMissing',
  'SnapshotClassMissing',
  'DriverMismatch',
  'Forbidden',
  'Rejected',
  'VolumeLost',
  'SnapshotTimeout',
] as const;
export type FailureReason = (typeof failureReasons)[number];
