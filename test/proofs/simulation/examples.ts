import type { Fault, Operation, Plan } from './plan.ts';

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

/** What the simulation found, shrunk, with the invariant that it broke. All are fixed. */
export const examples: readonly { invariant: string; what: string; plan: Plan }[] = [
  {
    invariant: 'S11',
    what: 'a DataVolume that was created while a user removed the status, and another process rebuilt that without it, was never deleted',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 0, do: 'policy', key: 'prune', value: 'yes' },
        { seconds: 1, do: 'publish', image: 'b', digest: 'sha256:1' },
        { seconds: 0, do: 'requestSync', image: 'b' },
        { seconds: 5, do: 'deleteWorkspace', workspace: 'w' },
        { seconds: 1, do: 'wipeStatus', image: 'b' },
      ],
      [{ kind: 'replicas', function: 'start-sync', count: 3 }],
      { order: { seed: 1656208213, share: 0.1 }, troubleSeconds: 0, seed: 1806202363 },
    ),
  },
  {
    invariant: 'S1',
    what: 'a slot was given away while CDI could still create an importer for the claim of the deleted DataVolume',
    plan: plainly(
      [
        { seconds: 0, do: 'policy', key: 'concurrency', value: '1' },
        { seconds: 60, do: 'createImage', image: 'a' },
        { seconds: 1, do: 'createImage', image: 'b' },
        { seconds: 6, do: 'changeUrl', image: 'a' },
      ],
      [{ kind: 'download', at: 0, count: 1, how: 'podDeleted' }],
      { order: { seed: 100614, share: 1 } },
    ),
  },
  {
    invariant: 'L2',
    what: 'an image that adopts a snapshot took the turn of one that could have had a slot, where events are lost',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 1, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'adopt', image: 'c' },
      ],
      [],
      { troubleSeconds: 0, isDeaf: true },
    ),
  },
  {
    invariant: 'S11',
    what: 'an image was Ready for ever with a snapshot that another process took again and that never was ready',
    plan: plainly(
      [{ seconds: 0, do: 'createImage', image: 'a' }],
      [
        { kind: 'snapshot', at: 1, how: 'never' },
        { kind: 'snapshot', at: 0, how: 'deleted' },
        { kind: 'replicas', function: 'follow-sync', count: 2 },
      ],
      { order: { seed: 1564060293, share: 0.5 }, seed: 978466988 },
    ),
  },
  {
    invariant: 'S4',
    what: 'an image got a slot in the reconcile that failed to queue one before it',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 1, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'adopt', image: 'b' },
      ],
      [],
      {
        order: { seed: 3, share: 1 },
        overtakings: [
          { at: 4, by: 5 },
          { at: 0, by: 1 },
          { at: 1, by: 14 },
        ],
        troubleSeconds: 0,
      },
    ),
  },
  {
    invariant: 'S2',
    what: 'a Lease that a user edited allowed more downloads than the policy',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 1, do: 'lease', how: 'overfull' },
    ]),
  },
  {
    invariant: 'S3',
    what: 'a slot rebuilt from an importer Pod named the Pod as its image',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 1, do: 'deleteImage', image: 'a' },
      { seconds: 0, do: 'lease', how: 'overfull' },
    ]),
  },
  {
    invariant: 'L1',
    what: 'an image waited for its snapshot forever after a user removed the start time from its status',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 40, do: 'garbleStatus', image: 'c' },
      ],
      [{ kind: 'snapshot', at: 0, how: 'never' }],
    ),
  },
  {
    invariant: 'S7',
    what: 'a failed image was retried immediately after a user removed nextAttemptAt from its status',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'garbleStatus', image: 'a' },
      ],
      [{ kind: 'download', at: 0, count: 2, how: 'cut' }],
    ),
  },
  {
    invariant: 'S8',
    what: 'an image whose snapshot was lost became Ready with a foreign snapshot of the same name',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'd' },
      { seconds: 41, do: 'loseSnapshot', image: 'd' },
      { seconds: 1, do: 'takeName', image: 'd', of: 'VolumeSnapshot' },
    ]),
  },
  {
    invariant: 'L2',
    what: 'no slot was assigned while the clock that had rebuilt the Lease was ahead',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'lease', how: 'delete' },
      ],
      [{ kind: 'clockJump', function: 'start-sync', at: 0, seconds: 60 }],
    ),
  },
  {
    invariant: 'S2',
    what: 'one of two instances waited two minutes for an answer, then created the DataVolume of an ended attempt',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 40, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 40, do: 'createImage', image: 'b' },
        { seconds: 40, do: 'changeUrl', image: 'c' },
      ],
      [
        { kind: 'replicas', function: 'start-sync', count: 2 },
        { kind: 'eventDropped', at: 43, count: 30 },
        { kind: 'answerLate', at: 36, seconds: 130 },
      ],
      { troubleSeconds: 10, seed: 207708232 },
    ),
  },
  {
    invariant: 'S9',
    what: 'lastTransitionTime went back because the clock of its writer was behind',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'deleteImage', image: 'a' },
      ],
      [{ kind: 'skew', function: 'follow-sync', seconds: 10 }],
    ),
  },
  {
    invariant: 'S18',
    what: 'a reconcile with a stale read of a DataVolume deleted the volume that was kept for its snapshot',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'deleteChild', image: 'c', of: 'DataVolume' },
        { seconds: 5, do: 'takeName', image: 'c', of: 'VolumeSnapshot' },
        { seconds: 130, do: 'createImage', image: 'c' },
      ],
      [{ kind: 'staleRead', at: 179, count: 40, back: 10 }],
      { order: { seed: 357612442, share: 1 } },
    ),
  },
  {
    invariant: 'L1',
    what: 'an image whose volume was lost is not recovered by its snapshot, because a user removed snapshottingAt from its status',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'garbleStatus', image: 'a' },
      ],
      [{ kind: 'download', at: 0, count: 6, how: 'claimLost' }],
      { order: { seed: 58, share: 0.1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'B1',
    what: 'the policy is read once for each page of machines that wait for an image',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'deleteStorageClass' },
        { seconds: 0, do: 'createMachine', machine: 'n', image: 'd', hasTemplate: false },
        { seconds: 1, do: 'policy', key: 'concurrency', value: '0' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: true },
        { seconds: 1, do: 'createWorkspace', workspace: 'w', image: 'a' },
        { seconds: 0, do: 'publish', image: 'd', digest: 'sha256:1' },
      ],
      [{ kind: 'download', at: 0, count: 1, how: 'cut' }],
      { order: { seed: 0, share: 0.1 }, overtakings: [{ at: 0, by: 1 }], troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'B1',
    what: 'each look of a refresh read the Secret of its image again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 130, do: 'replaceSource', image: 'a' },
        { seconds: 0, do: 'replaceSource', image: 'b' },
      ],
      [],
      { sources: [], refreshes: true },
    ),
  },
];

/** False alarms of an invariant or of the simulation; all are fixed. */
export const misjudged: typeof examples = [
  {
    invariant: 'S2',
    what: 'the simulated CDI deleted its second importer in place of the first, which ran on beside a finished download',
    plan: plainly(
      [{ seconds: 0, do: 'createImage', image: 'a' }],
      [{ kind: 'download', at: 0, count: 1, how: 'scratch' }],
      { order: { seed: 1632859745, share: 0.5 }, troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'S17',
    what: 'a restored image was Ready again with its restored snapshot, before start-sync heard that its url had changed just before',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 40, do: 'keep', image: 'a' },
        { seconds: 0, do: 'changeUrl', image: 'c' },
        { seconds: 0, do: 'deleteMachine', machine: 'm' },
        { seconds: 0, do: 'restoreImage', image: 'c', hasStatus: true, hasChildren: true },
      ],
      [
        { kind: 'replicas', function: 'follow-sync', count: 3 },
        { kind: 'away', at: 31, count: 1 },
      ],
      { order: { seed: 1862976499, share: 1 }, seed: 2129855130 },
    ),
  },
  {
    invariant: 'S4',
    what: 'start-sync, whose clock is ahead, queues a new revision behind an image that was created in the same moment',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 40, do: 'policy', key: 'retainSourceVolume', value: 'true' },
        { seconds: 0, do: 'changeUrl', image: 'd' },
        { seconds: 1, do: 'deleteImage', image: 'a' },
        { seconds: 0, do: 'publish', image: 'a', digest: 'sha256:1' },
        { seconds: 130, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
      ],
      [
        { kind: 'answerLost', at: 2 },
        { kind: 'skew', function: 'start-sync', seconds: 10 },
        { kind: 'crashBefore', at: 7 },
      ],
      { order: { seed: 154775900, share: 1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S4',
    what: 'a new image gets a slot before an old one whose status a user has just removed',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 130, do: 'takeName', image: 'a', of: 'VolumeSnapshot' },
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 0, do: 'changeUrl', image: 'a' },
        { seconds: 0, do: 'wipeStatus', image: 'a' },
      ],
      [{ kind: 'busy', at: 0, count: 1 }],
      {
        order: { seed: 1521127674, share: 1 },
        overtakings: [
          { at: 347, by: 1 },
          { at: 380, by: 1 },
          { at: 375, by: 3 },
          { at: 477, by: 9 },
        ],
        troubleSeconds: 200,
      },
    ),
  },
  {
    invariant: 'S1',
    what: 'a slot is free again because stale reads do not show the DataVolume that the process created',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 40, do: 'deleteWorkspace', workspace: 'w' },
        { seconds: 130, do: 'deleteImage', image: 'b' },
        { seconds: 0, do: 'deleteImage', image: 'a' },
        { seconds: 1, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: false },
        { seconds: 1, do: 'createImage', image: 'd' },
        { seconds: 1, do: 'unadopt', image: 'a' },
        { seconds: 0, do: 'createMachine', machine: 'n', image: 'a', hasTemplate: false },
      ],
      [
        { kind: 'download', at: 0, count: 6, how: 'stalls' },
        { kind: 'staleRead', at: 391, count: 40, back: 40 },
        { kind: 'forbidden', at: 9 },
      ],
      {
        order: { seed: 691458374, share: 1 },
        overtakings: [
          { at: 718, by: 12 },
          { at: 862, by: 14 },
          { at: 451, by: 9 },
          { at: 195, by: 2 },
          { at: 1081, by: 3 },
        ],
        troubleSeconds: 10,
      },
    ),
  },
  {
    invariant: 'S5',
    what: 'a new revision begins while the DataVolume of the last, which stale reads do not show, is in flight',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 1, do: 'deleteChild', image: 'a', of: 'VolumeSnapshot' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 0, do: 'changeUrl', image: 'a' },
      ],
      [
        { kind: 'staleRead', at: 69, count: 40, back: 40 },
        { kind: 'answerLate', at: 30, seconds: 35 },
      ],
      { order: { seed: 0, share: 0 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S6',
    what: 'an image whose status a user wiped while its second revision was queued begins again with the first',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 5, do: 'createMachine', machine: 'm', image: 'd', hasTemplate: false },
        { seconds: 40, do: 'useRevision', image: 'a', revision: 1 },
        { seconds: 5, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 5, do: 'changeUrl', image: 'a' },
        { seconds: 40, do: 'wipeStatus', image: 'a' },
      ],
      [{ kind: 'download', at: 0, count: 6, how: 'podDeleted' }],
      {
        order: { seed: 25, share: 1 },
        overtakings: [
          { at: 557, by: 1 },
          { at: 525, by: 1 },
          { at: 661, by: 4 },
        ],
        troubleSeconds: 10,
      },
    ),
  },
  {
    invariant: 'S17',
    what: 'an image that a backup restored has the download of which a requested sync had only the snapshot taken again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 40, do: 'requestSync', image: 'd' },
        { seconds: 40, do: 'restoreImage', image: 'd', hasStatus: true, hasChildren: true },
      ],
      [{ kind: 'snapshotRefused', at: 0, count: 1 }],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'B1',
    what: 'the images that an audit found in a page are read one by one',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 1, do: 'createImage', image: 'b' },
        { seconds: 0, do: 'adopt', image: 'b' },
        { seconds: 0, do: 'adopt', image: 'a' },
      ],
      [],
      { order: { seed: 0, share: 1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S1',
    what: 'an attempt continues after the queue was paused and the Lease rebuilt, even if its DataVolume is made again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 0, do: 'lease', how: 'stranger' },
        { seconds: 0, do: 'keep', image: 'a' },
        { seconds: 130, do: 'changeUrl', image: 'a' },
        { seconds: 130, do: 'requestSync', image: 'a' },
        { seconds: 130, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'unknownPhase', image: 'a' },
        { seconds: 1, do: 'lease', how: 'delete' },
        { seconds: 0, do: 'unadopt', image: 'a' },
        { seconds: 0, do: 'policy', key: 'concurrency', value: '0' },
        { seconds: 40, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: false },
      ],
      [
        { kind: 'download', at: 2, count: 1, how: 'evicted' },
        { kind: 'download', at: 0, count: 6, how: 'deleted' },
        { kind: 'brokerOutage', at: 2, seconds: 10, loses: false },
      ],
      { order: { seed: 2120016959, share: 1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S6',
    what: 'a process that is slow creates a DataVolume again that a user deleted before the status named it',
    plan: plainly(
      [{ seconds: 0, do: 'createImage', image: 'a' }],
      [
        { kind: 'replicas', function: 'start-sync', count: 3 },
        { kind: 'download', at: 0, count: 6, how: 'deleted' },
      ],
      {
        order: { seed: 967165189, share: 1 },
        overtakings: [
          { at: 1, by: 1 },
          { at: 3, by: 19 },
        ],
        troubleSeconds: 200,
        seed: 442069665,
      },
    ),
  },
  {
    invariant: 'B1',
    what: 'a read that ends after its reconcile failed does not count for the next one',
    plan: {
      operations: [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'deleteChild', image: 'a', of: 'VolumeSnapshot' },
        { seconds: 0, do: 'createMachine', machine: 'n', image: 'a', hasTemplate: false },
        { seconds: 5, do: 'requestSync', image: 'd' },
        { seconds: 0, do: 'deleteMachine', machine: 'n' },
        { seconds: 0, do: 'createImage', image: 'a' },
      ],
      faults: [{ kind: 'busy', at: 45, count: 5 }],
      order: { seed: 9, share: 1 },
      overtakings: [
        { at: 169, by: 6 },
        { at: 20, by: 9 },
      ],
      troubleSeconds: 10,
      isDeaf: false,
      seed: 0,
    },
  },
  {
    invariant: 'S5',
    what: 'a restore creates the DataVolumes of two revisions together, for an image that does not exist',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'requestSync', image: 'a' },
        { seconds: 40, do: 'unknownPhase', image: 'a' },
        { seconds: 0, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: true },
      ],
      [],
      { troubleSeconds: 0, isDeaf: true },
    ),
  },
  {
    invariant: 'S11',
    what: 'the volume of the newest revision, whose snapshot lost its content while an earlier one is pinned, is its last copy',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'lease', how: 'delete' },
        { seconds: 0, do: 'requestSync', image: 'a' },
        { seconds: 130, do: 'publish', image: 'a', digest: 'sha256:1' },
        { seconds: 130, do: 'publish', image: 'a', digest: 'sha256:1' },
        { seconds: 0, do: 'publish', image: 'a', digest: 'sha256:2' },
        { seconds: 0, do: 'useRevision', image: 'a', revision: 2 },
      ],
      [{ kind: 'snapshot', at: 3, how: 'contentMissing' }],
      { order: { seed: 0, share: 0.1 }, troubleSeconds: 60 },
    ),
  },
  {
    invariant: 'S9',
    what: 'a restored status has the observedGeneration of the object it was taken from, and the next write that of the new one',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'b' },
      { seconds: 0, do: 'changeUrl', image: 'b' },
      { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: false },
      { seconds: 40, do: 'restoreImage', image: 'b', hasStatus: true, hasChildren: false },
    ]),
  },
  {
    invariant: 'S17',
    what: 'a sync that is requested while no read succeeds is queued after the running download is Ready',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 130, do: 'requestSync', image: 'c' },
        { seconds: 1, do: 'wipeStatus', image: 'b' },
        { seconds: 130, do: 'lease', how: 'overfull' },
      ],
      [
        { kind: 'away', at: 117, count: 100 },
        { kind: 'away', at: 198, count: 100 },
        { kind: 'away', at: 43, count: 1 },
        { kind: 'away', at: 257, count: 100 },
        { kind: 'away', at: 16, count: 20 },
        { kind: 'away', at: 354, count: 100 },
        { kind: 'away', at: 114, count: 1 },
      ],
      {
        order: { seed: 8, share: 0.5 },
        overtakings: [
          { at: 1346, by: 20 },
          { at: 31, by: 1 },
          { at: 1110, by: 19 },
          { at: 1172, by: 7 },
        ],
        troubleSeconds: 0,
      },
    ),
  },
  {
    invariant: 'S8',
    what: 'an image restored with its status is Ready with the snapshot of the image before it',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 130, do: 'adopt', image: 'd' },
        { seconds: 0, do: 'restoreImage', image: 'c', hasStatus: true, hasChildren: true },
      ],
      [],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'S11',
    what: 'a snapshot that the revisions of a restored image name was made for the image before it',
    plan: plainly([
      { seconds: 40, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
      { seconds: 130, do: 'restoreImage', image: 'a', hasStatus: true, hasChildren: true },
    ]),
  },
  {
    invariant: 'S2',
    what: 'a restored download of an image that does not exist has no slot until prune deletes it',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 1, do: 'restoreImage', image: 'd', hasStatus: false, hasChildren: true },
      ],
      [],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'L3',
    what: 'an image that failed while the policy was deleted waits for as long as the defaults say',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: true },
        { seconds: 5, do: 'deleteImage', image: 'b' },
        { seconds: 5, do: 'deleteMachine', machine: 'm' },
        { seconds: 130, do: 'deletePolicy' },
        { seconds: 0, do: 'requestSync', image: 'a' },
      ],
      [
        { kind: 'download', at: 3, count: 6, how: 'cut' },
        { kind: 'clockJump', function: 'start-sync', at: 0, seconds: 5 },
        { kind: 'download', at: 0, count: 6, how: 'neverStarts' },
      ],
      { troubleSeconds: 10 },
    ),
  },
  {
    invariant: 'S6',
    what: 'the download of a deleted image continues until the audit if the event was lost',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 1, do: 'keep', image: 'a' },
        { seconds: 1, do: 'publish', image: 'a', digest: 'sha256:1' },
        { seconds: 1, do: 'wipeStatus', image: 'd' },
        { seconds: 0, do: 'publish', image: 'c', digest: 'sha256:1' },
        { seconds: 130, do: 'deleteSnapshotClass' },
        { seconds: 1, do: 'deleteImage', image: 'c' },
      ],
      [
        { kind: 'download', at: 3, count: 1, how: 'cut' },
        { kind: 'eventDropped', at: 39, count: 1000 },
      ],
      { order: { seed: 1155219264, share: 0.1 }, overtakings: [{ at: 47, by: 1 }], troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'L1',
    what: 'an answer that was late when the faults ended came two minutes later',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'deleteImage', image: 'c' },
        { seconds: 0, do: 'takeName', image: 'b', of: 'DataVolume' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: false },
      ],
      [{ kind: 'answerLate', at: 15, seconds: 130 }],
      { order: { seed: 1459678644, share: 1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'L2',
    what: 'no slot is assigned while the clock that recreated the Lease was ahead',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 130, do: 'requestSync', image: 'a' },
        { seconds: 1, do: 'loseSnapshot', image: 'a' },
        { seconds: 0, do: 'lease', how: 'delete' },
        { seconds: 1, do: 'publish', image: 'a', digest: 'sha256:1' },
      ],
      [{ kind: 'skew', function: 'start-sync', seconds: 10 }],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S8',
    what: 'a reconcile that had read a status before a user wiped it deleted the DataVolume of the next attempt of that name',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'policy', key: 'prune', value: 'yes' },
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 1, do: 'deleteImage', image: 'a' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'd', hasTemplate: false },
        { seconds: 40, do: 'wipeStatus', image: 'd' },
      ],
      [
        { kind: 'answerLate', at: 49, seconds: 35 },
        { kind: 'answerLate', at: 294, seconds: 35 },
        { kind: 'answerLate', at: 217, seconds: 1 },
      ],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S18',
    what: 'a reconcile that had read an image as Queued deleted the volume of an attempt that the next write kept',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'deleteImage', image: 'a' },
        { seconds: 1, do: 'createImage', image: 'a' },
        { seconds: 1, do: 'wipeStatus', image: 'a' },
        { seconds: 1, do: 'deleteSnapshotClass' },
      ],
      [],
      { order: { seed: 499315066, share: 0.5 }, overtakings: [{ at: 108, by: 1 }], troubleSeconds: 10 },
    ),
  },
  {
    invariant: 'S6',
    what: 'a download that a backup restored is no attempt of the functions',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 0, do: 'policy', key: 'retryLimit', value: '0' },
      { seconds: 1, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: true },
    ]),
  },
  {
    invariant: 'S6',
    what: 'an importer that a user deleted before it was seen began again for ever, without a Pod',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 1, do: 'policy', key: 'concurrency', value: '0' },
        { seconds: 0, do: 'deleteChild', image: 'c', of: 'Pod' },
      ],
      [{ kind: 'download', at: 0, count: 1, how: 'restartOnly' }],
      { order: { seed: 1323759806, share: 0.1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S17',
    what: 'the snapshot of a restored image was restored before start-sync read the requested sync',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 130, do: 'lease', how: 'delete' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: false },
        { seconds: 0, do: 'changeMachine', machine: 'm' },
        { seconds: 1, do: 'restoreImage', image: 'b', hasStatus: true, hasChildren: true },
        { seconds: 1, do: 'requestSync', image: 'b' },
      ],
      [{ kind: 'eventDropped', at: 47, count: 1000 }],
      { order: { seed: 0, share: 0.1 } },
    ),
  },
  {
    invariant: 'S10',
    what: 'a snapshot in use whose content did not exist was deleted, and taken again from the kept volume',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'c', hasTemplate: false },
        { seconds: 130, do: 'deletePolicy' },
        { seconds: 0, do: 'changeUrl', image: 'c' },
        { seconds: 0, do: 'adopt', image: 'a' },
        { seconds: 130, do: 'adopt', image: 'a' },
      ],
      [{ kind: 'snapshot', at: 2, how: 'contentMissing' }],
      { order: { seed: 368017793, share: 0.5 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S10',
    what: 'the content of a snapshot was lost while the reconcile that deleted it began',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 1, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: true },
        { seconds: 130, do: 'adopt', image: 'a' },
      ],
      [
        { kind: 'snapshot', at: 2, how: 'contentMissing' },
        { kind: 'replicas', function: 'follow-sync', count: 2 },
        { kind: 'snapshot', at: 0, how: 'deleted' },
        { kind: 'replicas', function: 'start-sync', count: 2 },
      ],
      {
        order: { seed: 1610610110, share: 1 },
        overtakings: [{ at: 0, by: 1 }],
        troubleSeconds: 0,
        seed: 1054338022,
      },
    ),
  },
  {
    invariant: 'S11',
    what: 'the volume of the newest revision was kept after its snapshot was lost while an earlier revision was pinned',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'useRevision', image: 'a', revision: 1 },
        { seconds: 40, do: 'policy', key: 'concurrency', value: '0' },
        { seconds: 1, do: 'requestSync', image: 'a' },
        { seconds: 0, do: 'deletePolicy' },
      ],
      [{ kind: 'snapshot', at: 1, how: 'deleted' }],
      { order: { seed: 452817717, share: 1 }, overtakings: [{ at: 0, by: 8 }] },
    ),
  },
  {
    invariant: 'S1',
    what: 'CDI took back the phase of a finished download when its slot was given to another image',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
        { seconds: 0, do: 'policy', key: 'concurrency', value: '1' },
        { seconds: 130, do: 'adopt', image: 'a' },
      ],
      [
        { kind: 'download', at: 1, count: 1, how: 'takenBack' },
        { kind: 'download', at: 0, count: 1, how: 'cut' },
      ],
      { order: { seed: 1099885409, share: 0.5 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S8',
    what: 'an image restored from a backup uses the revision that a user had chosen, by the snapshot of that backup',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 130, do: 'unknownPhase', image: 'a' },
        { seconds: 0, do: 'requestSync', image: 'd' },
        { seconds: 130, do: 'useRevision', image: 'd', revision: 1 },
        { seconds: 0, do: 'restoreImage', image: 'd', hasStatus: true, hasChildren: true },
      ],
      [],
      { order: { seed: 0, share: 0 }, overtakings: [], troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'B1',
    what: 'inspect-source read the Secret that four images name once for each of them',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 1, do: 'deleteForeground', image: 'd' },
        { seconds: 0, do: 'policy', key: 'concurrency', value: '1e9' },
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 130, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'useRevision', image: 'a', revision: 1 },
        { seconds: 5, do: 'restoreImage', image: 'a', hasStatus: true, hasChildren: true },
        { seconds: 0, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: false },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: true },
        { seconds: 0, do: 'deleteOrphan', image: 'b' },
        { seconds: 0, do: 'deleteMachineChild', machine: 'n', of: 'DataVolume' },
        { seconds: 0, do: 'adopt', image: 'c' },
      ],
      [
        { kind: 'answerLate', at: 113, seconds: 35 },
        { kind: 'download', at: 5, count: 6, how: 'stalls' },
        { kind: 'machine', at: 0, how: 'unschedulable' },
        { kind: 'crashAfter', at: 23 },
        { kind: 'snapshot', at: 0, how: 'deleted' },
      ],
      {
        order: { seed: 2147483640, share: 1 },
        overtakings: [{ at: 127, by: 18 }],
        troubleSeconds: 10,
        isDeaf: true,
        seed: 503280081,
        sources: ['unreachable', 'silver', 'silver', 'golden'],
      },
    ),
  },
  {
    invariant: 'S4',
    what: 'two images were queued in one moment, and the cache of start-sync had heard of the inspection of one of them only',
    plan: {
      operations: [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'requestSync', image: 'a' },
        { seconds: 0, do: 'deleteStorageClass' },
        { seconds: 0, do: 'deleteChild', image: 'b', of: 'Pod' },
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'policy', key: 'retryBackoffDuration', value: '1s' },
        { seconds: 0, do: 'deleteChild', image: 'b', of: 'VolumeSnapshot' },
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'replaceSource', image: 'd' },
        { seconds: 0, do: 'unadopt', image: 'c' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'b', hasTemplate: false, joins: 'lab' },
        { seconds: 0, do: 'wipeStatus', image: 'd' },
      ],
      faults: [
        { kind: 'replicas', function: 'start-sync', count: 2 },
        { kind: 'snapshotRefused', at: 0, count: 1 },
        { kind: 'slow', at: 56, seconds: 35 },
        { kind: 'eventDelayed', at: 24, seconds: 1 },
      ],
      order: { seed: 732641071, share: 1 },
      overtakings: [
        { at: 734, by: 1 },
        { at: 1483, by: 10 },
        { at: 7, by: 8 },
        { at: 315, by: 5 },
      ],
      troubleSeconds: 60,
      isDeaf: false,
      seed: 663289545,
      sources: [],
      refreshes: true,
    },
  },
];
