/** What goes wrong, as data. `at` counts what it strikes (writes, requests, events, downloads …) from the beginning of the run. */
export type Fault =
  /** The function's process ends before or after its write, or the write is done and its answer lost. */
  | { kind: 'crashBefore' | 'crashAfter' | 'answerLost'; at: number }
  /** So many writes in a row meet a rival's (409). */
  | { kind: 'conflicts'; at: number; count: number }
  /** So many requests in a row are not served (429, 503). */
  | { kind: 'busy' | 'away'; at: number; count: number }
  /** The API server refuses what a function writes, once (403, 422). */
  | { kind: 'forbidden' | 'invalid'; at: number }
  /** A request takes so many seconds to arrive. */
  | { kind: 'slow'; at: number; seconds: number }
  /** The API server has done what was asked, and its answer takes so many seconds. */
  | { kind: 'answerLate'; at: number; seconds: number }
  /** A list of several pages breaks off after the first (410). */
  | { kind: 'listExpired'; at: number }
  /** `count` reads in a row are `back` writes old, as from a stale API server. */
  | { kind: 'staleRead'; at: number; count: number; back: number }
  | { kind: 'eventDropped'; at: number; count: number }
  | { kind: 'eventDoubled'; at: number; seconds: number }
  | { kind: 'eventDelayed'; at: number; seconds: number }
  /** From that event on the Broker brings nothing for so many seconds; what comes in the meantime is kept, or lost. */
  | { kind: 'brokerOutage'; at: number; seconds: number; loses: boolean }
  /** A function's clock is so many seconds off. */
  | { kind: 'skew'; function: string; seconds: number }
  /** From that request on a function's clock is so many seconds further off. */
  | { kind: 'clockJump'; function: string; at: number; seconds: number }
  /** So many instances of a function at once. */
  | { kind: 'replicas'; function: string; count: number }
  /** So many downloads in a row. */
  | { kind: 'download'; at: number; count: number; how: DownloadFault }
  | { kind: 'snapshot'; at: number; how: SnapshotFault }
  /** The API server refuses `count` VolumeSnapshots in a row (403), as with an exceeded quota. */
  | { kind: 'snapshotRefused'; at: number; count: number }
  | { kind: 'machine'; at: number; how: MachineFault };

/** How CDI and its importers misbehave (cdi-kubevirt reference, §7.3). */
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

/** How the snapshotter misbehaves (cdi-kubevirt reference, §7.6). */
export const snapshotFaults = ['error', 'never', 'late', 'unready', 'deleted', 'contentMissing'] as const;
export type SnapshotFault = (typeof snapshotFaults)[number];

/** How KubeVirt misbehaves (cdi-kubevirt reference, §7.7). */
export const machineFaults = ['unschedulable', 'crashLoop', 'deleted', 'diskDeleted'] as const;
export type MachineFault = (typeof machineFaults)[number];

/** What a user does, one thing after the other; `seconds` before it nothing is done. */
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
  | { do: 'createWorkspace'; workspace: string; image: string }
  | { do: 'deleteWorkspace'; workspace: string }
  | { do: 'createMachine'; machine: string; image: string; hasTemplate: boolean }
  | { do: 'deleteMachine' | 'changeMachine'; machine: string }
  | { do: 'policy'; key: string; value: string }
  | { do: 'deletePolicy' | 'deleteStorageClass' | 'deleteSnapshotClass' }
  /** Somebody makes an object of the name that the image's next attempt or revision wants. */
  | { do: 'takeName'; image: string; of: (typeof takenNames)[number] }
  | { do: 'lease'; how: (typeof leaseEdits)[number] }
  | { do: 'wipeStatus' | 'garbleStatus'; image: string }
  /** A newer version of the functions sets a phase that this one does not know, for some seconds. */
  | { do: 'unknownPhase'; image: string }
  | { do: 'publish'; image: string; digest: string }
);

/** `old` is its content some edits ago. */
export const leaseEdits = ['delete', 'empty', 'garble', 'stranger', 'overfull', 'old'] as const;
/** Whose name somebody takes. */
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
  /** Changes and facts are told to nobody, to the very end: timers alone wake functions. */
  isDeaf: boolean;
  /** For uids and jitter. */
  seed: number;
}
