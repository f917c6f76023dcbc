/** A fault, as data. `at` is the number of the write, request, event, download … that it affects, from the start of the run. */
export type Fault =
  /** The function's process ends before or after its write, or the write is done and its answer lost. */
  | { kind: 'crashBefore' | 'crashAfter' | 'answerLost'; at: number }
  /** `count` writes in a row conflict (409). */
  | { kind: 'conflicts'; at: number; count: number }
  /** `count` requests in a row are not served (429, 503). */
  | { kind: 'busy' | 'away'; at: number; count: number }
  /** The API server refuses one write of a function (403, 422). */
  | { kind: 'forbidden' | 'invalid'; at: number }
  /** A request arrives late. */
  | { kind: 'slow'; at: number; seconds: number }
  /** The API server performs a request, and its answer arrives late. */
  | { kind: 'answerLate'; at: number; seconds: number }
  /** A list of several pages fails after the first (410). */
  | { kind: 'listExpired'; at: number }
  /** `count` reads in a row are `back` writes old, as from an API server that lags, but none is older than what the process read or wrote. */
  | { kind: 'staleRead'; at: number; count: number; back: number }
  /** A cache hears of a change late, and of all that follow. */
  | { kind: 'watchLate'; at: number; seconds: number }
  | { kind: 'eventDropped'; at: number; count: number }
  | { kind: 'eventDoubled'; at: number; seconds: number }
  | { kind: 'eventDelayed'; at: number; seconds: number }
  /** From that event on the Broker delivers nothing; it keeps or loses the events of that time. */
  | { kind: 'brokerOutage'; at: number; seconds: number; loses: boolean }
  /** A function's clock is wrong. */
  | { kind: 'skew'; function: string; seconds: number }
  /** From that request on a function's clock is wrong by this much more. */
  | { kind: 'clockJump'; function: string; at: number; seconds: number }
  /** `count` instances of a function. */
  | { kind: 'replicas'; function: string; count: number }
  /** `count` downloads in a row. */
  | { kind: 'download'; at: number; count: number; how: DownloadFault }
  | { kind: 'snapshot'; at: number; how: SnapshotFault }
  /** The API server refuses `count` VolumeSnapshots in a row (403), as with an exceeded quota. */
  | { kind: 'snapshotRefused'; at: number; count: number }
  | { kind: 'machine'; at: number; how: MachineFault };

/** The failures of CDI and its importers. */
export const downloadFaults = [
  'cut',
  'notFound',
  'failed',
  'restartOnly',
  'evicted',
  'neverStarts',
  'stalls',
  'deleted',
  'podDeleted',
  'scratch',
  'claimLost',
  'takenBack',
  'podLingers',
  'lateBound',
  'neverBound',
] as const;
export type DownloadFault = (typeof downloadFaults)[number];

/** The failures of the snapshotter. */
export const snapshotFaults = ['error', 'never', 'late', 'unready', 'deleted', 'contentMissing'] as const;
export type SnapshotFault = (typeof snapshotFaults)[number];

/** The failures of KubeVirt. */
export const machineFaults = ['unschedulable', 'crashLoop', 'deleted', 'diskDeleted'] as const;
export type MachineFault = (typeof machineFaults)[number];

/** What a source answers when it is inspected: an image, one of two whose ETags tell them apart, or something else. */
export const sourceAnswers = ['image', 'golden', 'silver', 'missing', 'page', 'unreachable', 'late'] as const;
export type SourceAnswerKind = (typeof sourceAnswers)[number];

/** An operation of a user, `seconds` after the previous one. */
export type Operation = { seconds: number } & (
  | { do: 'createImage' | 'deleteImage' | 'requestSync' | 'changeUrl' | 'keep' | 'loseSnapshot'; image: string }
  /** With --cascade=foreground or orphan. */
  | { do: 'deleteForeground' | 'deleteOrphan'; image: string }
  /** Removes the finalizers: by a manifest without any, or with a forced deletion. */
  | { do: 'dropFinalizers' | 'forceDelete'; image: string }
  /** Restores it from a backup: with another uid, and children with labels but without owners, as Velero does. */
  | { do: 'restoreImage'; image: string; hasStatus: boolean; hasChildren: boolean }
  /** Names a user's snapshot to adopt in place of a download; removes that annotation. */
  | { do: 'adopt' | 'unadopt'; image: string }
  | { do: 'useRevision'; image: string; revision: number }
  | { do: 'deleteChild'; image: string; of: (typeof imageChildren)[number] }
  | { do: 'deleteMachineChild'; machine: string; of: (typeof machineChildren)[number] }
  /** `runs`: with a container and a volume. */
  | { do: 'createWorkspace'; workspace: string; image: string; hasTemplate?: boolean; runs?: boolean }
  | { do: 'deleteWorkspace'; workspace: string }
  /** `joins` is a namespace whose network it names. */
  | { do: 'createMachine'; machine: string; image: string; hasTemplate: boolean; joins?: string }
  | { do: 'deleteMachine' | 'changeMachine'; machine: string }
  | { do: 'policy'; key: string; value: string }
  | { do: 'deletePolicy' | 'deleteStorageClass' | 'deleteSnapshotClass' }
  /** A user creates an object with the name that the image's next attempt or revision needs. */
  | { do: 'takeName'; image: string; of: (typeof takenNames)[number] }
  | { do: 'lease'; how: (typeof leaseEdits)[number] }
  | { do: 'wipeStatus' | 'garbleStatus'; image: string }
  /** A newer version of the functions sets a phase that this one does not know, for some seconds. */
  | { do: 'unknownPhase'; image: string }
  | { do: 'publish'; image: string; digest: string; signedBy?: Signer }
  /** Another object is put behind the image's url. */
  | { do: 'replaceSource'; image: string }
);

/** Whose key is in the Secret of publications, and whose is not. */
export const publicationKeys = {
  publisher: `whsec_${Buffer.alloc(24, 'p').toString('base64')}`,
  stranger: `whsec_${Buffer.alloc(24, 's').toString('base64')}`,
} as const;
export type Signer = keyof typeof publicationKeys;

/** `old` is its content some edits ago. */
export const leaseEdits = ['delete', 'empty', 'garble', 'stranger', 'overfull', 'old'] as const;
/** The object whose name is taken. */
export const takenNames = ['DataVolume', 'VolumeSnapshot'] as const;
/** The children of an image, and of a machine, that a user deletes. */
export const imageChildren = ['VolumeSnapshot', 'DataVolume', 'PersistentVolumeClaim', 'Pod'] as const;
export const machineChildren = ['DataVolume', 'Secret', 'KubeVirtMachine'] as const;

/** One run of the simulation: the same plan is the same run, write for write. */
export interface Plan {
  operations: readonly Operation[];
  faults: readonly Fault[];
  /** Which of the things that could happen next does: by chance in this share of the cases, else what has waited longest. */
  order: { seed: number; share: number };
  /** At the choice of that number another than what has waited longest: for few interleavings, exactly placed. */
  overtakings: readonly { at: number; by: number }[];
  /** How long things go on going wrong after the last operation. */
  troubleSeconds: number;
  /** No change or fact is ever delivered: only timers start reconciles. */
  isDeaf: boolean;
  /** For uids and jitter. */
  seed: number;
  /** What sources answer, one request after the other, then an image; without it no source is inspected. */
  sources?: readonly SourceAnswerKind[] | undefined;
  /** Images are created with `refresh: OnChange`, and the image behind each url has an ETag. */
  refreshes?: boolean;
}

/** A plan in plain order, except for its faults and `more`. */
export const plainly = (
  operations: readonly Operation[],
  faults: readonly Fault[] = [],
  more: Partial<Plan> = {},
): Plan => ({
  operations,
  faults,
  order: { seed: 0, share: 0 },
  overtakings: [],
  troubleSeconds: 60,
  isDeaf: false,
  seed: 0,
  ...more,
});
