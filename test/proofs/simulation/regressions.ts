import { plainly } from './examples.ts';
import type { Plan } from './plan.ts';

/** What real operators, users and backups do to images, each plan as small as possible; `unmended` names what is still wrong. */
export const regressions: readonly { invariant: string; what: string; plan: Plan; unmended?: string }[] = [
  {
    invariant: 'L1',
    what: 'a finalizer that a manifest without finalizers removed is added again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'dropFinalizers', image: 'a' },
      ],
      [],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'S10',
    what: 'an image whose finalizer was removed once is retained while a machine uses it',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
      { seconds: 60, do: 'dropFinalizers', image: 'a' },
      { seconds: 200, do: 'deleteImage', image: 'a' },
    ]),
  },
  {
    invariant: 'S10',
    what: 'an image deleted in the foreground keeps its snapshot while a machine uses it',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
      { seconds: 60, do: 'deleteForeground', image: 'a' },
    ]),
  },
  {
    invariant: 'S18',
    what: 'a machine is cloned from an image that is deleted in the foreground',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 40, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
      { seconds: 0, do: 'deleteForeground', image: 'a' },
    ]),
  },
  {
    invariant: 'L6',
    what: 'a machine is cloned from an image that is deleted in the background',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 40, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
      { seconds: 0, do: 'deleteImage', image: 'a' },
    ]),
  },
  {
    invariant: 'S17',
    what: 'an image whose status was wiped is not Ready with the snapshot of an earlier url',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 40, do: 'wipeStatus', image: 'a' },
      { seconds: 0, do: 'changeUrl', image: 'a' },
    ]),
  },
  {
    invariant: 'S17',
    what: 'an image whose status was wiped after two revisions is not Ready with the snapshot of an earlier url',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 40, do: 'changeUrl', image: 'a' },
      { seconds: 40, do: 'wipeStatus', image: 'a' },
      { seconds: 40, do: 'changeUrl', image: 'a' },
    ]),
  },
  {
    invariant: 'S17',
    what: 'an image that adopted a snapshot downloads again when its annotation is removed and its url changes',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'adopt', image: 'a' },
        { seconds: 40, do: 'unadopt', image: 'a' },
        { seconds: 40, do: 'changeUrl', image: 'a' },
      ],
      [],
      { troubleSeconds: 100 },
    ),
  },
  {
    invariant: 'S15',
    what: 'a restored DataVolume without an owner is deleted, and frees its slot',
    plan: plainly(
      [
        { seconds: 0, do: 'policy', key: 'concurrency', value: '1' },
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 2, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: true },
      ],
      [
        { kind: 'download', at: 0, count: 1, how: 'neverStarts' },
        { kind: 'download', at: 1, count: 1, how: 'neverStarts' },
      ],
      { troubleSeconds: 600 },
    ),
  },
  {
    invariant: 'L6',
    what: 'an image restored with its status and without its snapshot is downloaded for its machine',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 40, do: 'restoreImage', image: 'a', hasStatus: true, hasChildren: false },
      ],
      [],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'L1',
    what: 'an image restored while it snapshotted is downloaded again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 10, do: 'restoreImage', image: 'a', hasStatus: true, hasChildren: false },
      ],
      [{ kind: 'snapshot', at: 0, how: 'never' }],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'L1',
    what: 'an image restored while it downloaded is downloaded again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 2, do: 'restoreImage', image: 'a', hasStatus: true, hasChildren: false },
      ],
      [],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'L1',
    what: 'an image whose snapshot was refused once is Succeeded without another download',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 200, do: 'requestSync', image: 'a' },
      ],
      [{ kind: 'snapshotRefused', at: 0, count: 1 }],
    ),
  },
  {
    invariant: 'S17',
    what: 'an image whose snapshot never became ready is Succeeded with the next, once a sync is requested',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 200, do: 'requestSync', image: 'a' },
        { seconds: 1, do: 'deleteChild', image: 'a', of: 'VolumeSnapshot' },
      ],
      [{ kind: 'snapshot', at: 0, how: 'never' }],
    ),
  },
  {
    invariant: 'L1',
    what: 'an image whose snapshot is ready after snapshotTimeout is Succeeded',
    plan: plainly([{ seconds: 0, do: 'createImage', image: 'a' }], [{ kind: 'snapshot', at: 0, how: 'late' }], {
      troubleSeconds: 300,
    }),
  },
  {
    invariant: 'S8',
    what: 'an image whose snapshot is unready for a while is Ready again',
    plan: plainly([{ seconds: 0, do: 'createImage', image: 'a' }], [{ kind: 'snapshot', at: 0, how: 'unready' }], {
      troubleSeconds: 100,
    }),
  },
  {
    invariant: 'S8',
    what: 'an image whose snapshot a user deletes before it is ready finishes',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 9, do: 'deleteChild', image: 'a', of: 'VolumeSnapshot' },
      ],
      [{ kind: 'snapshot', at: 0, how: 'never' }],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'S18',
    what: 'a snapshot that is being deleted makes no image Succeeded, and its volume is kept',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 1, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'createImage', image: 'a' },
      ],
      [
        { kind: 'crashBefore', at: 78 },
        { kind: 'clockJump', function: 'prune', at: 21, seconds: -5 },
        { kind: 'answerLost', at: 31 },
        { kind: 'brokerOutage', at: 53, seconds: 600, loses: false },
        { kind: 'snapshot', at: 3, how: 'unready' },
        { kind: 'snapshot', at: 1, how: 'deleted' },
      ],
      {
        order: { seed: 2147483636, share: 0.5 },
        overtakings: [
          { at: 1194, by: 1 },
          { at: 1500, by: 11 },
        ],
        seed: 2147483635,
      },
    ),
  },
  {
    invariant: 'S15',
    what: 'an importer that outlives its DataVolume does not keep its slot',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'requestSync', image: 'd' },
        { seconds: 0, do: 'restoreImage', image: 'd', hasStatus: true, hasChildren: false },
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 0, do: 'unadopt', image: 'd' },
        { seconds: 130, do: 'publish', image: 'c', digest: 'sha256:2' },
        { seconds: 0, do: 'keep', image: 'a' },
        { seconds: 0, do: 'requestSync', image: 'c' },
        { seconds: 0, do: 'policy', key: 'prune', value: 'yes' },
      ],
      [
        { kind: 'snapshot', at: 1, how: 'never' },
        { kind: 'snapshot', at: 1, how: 'deleted' },
        { kind: 'download', at: 2, count: 6, how: 'scratch' },
        { kind: 'download', at: 5, count: 1, how: 'scratch' },
        { kind: 'download', at: 5, count: 6, how: 'claimLost' },
        { kind: 'download', at: 2, count: 2, how: 'deleted' },
        { kind: 'download', at: 2, count: 6, how: 'cut' },
        { kind: 'download', at: 1, count: 2, how: 'scratch' },
        { kind: 'snapshot', at: 0, how: 'error' },
        { kind: 'snapshot', at: 2, how: 'error' },
        { kind: 'conflicts', at: 4, count: 2 },
        { kind: 'clockJump', function: 'start-sync', at: 4, seconds: 5 },
        { kind: 'answerLate', at: 198, seconds: 130 },
        { kind: 'answerLost', at: 3 },
      ],
      {
        order: { seed: 2147483641, share: 1 },
        overtakings: [
          { at: 154, by: 3 },
          { at: 685, by: 20 },
        ],
        seed: 636540612,
      },
    ),
  },
  {
    invariant: 'L1',
    what: 'an image whose claim is bound twenty seconds after its download is Succeeded',
    plan: plainly(
      [{ seconds: 0, do: 'createImage', image: 'a' }],
      [{ kind: 'download', at: 0, count: 6, how: 'lateBound' }],
      { troubleSeconds: 100 },
    ),
  },
  {
    invariant: 'L3',
    what: 'an image whose claim is never bound finishes',
    plan: plainly(
      [{ seconds: 0, do: 'createImage', image: 'a' }],
      [{ kind: 'download', at: 0, count: 6, how: 'neverBound' }],
      { troubleSeconds: 600 },
    ),
  },
  {
    invariant: 'L6',
    what: 'a machine whose root disk a user deletes reports it',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 60, do: 'deleteMachineChild', machine: 'm', of: 'DataVolume' },
      ],
      [],
      { troubleSeconds: 200 },
    ),
  },
  {
    invariant: 'S8',
    what: 'an image is not Ready with a restored snapshot that an annotation names and that does not exist',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'c' },
      { seconds: 40, do: 'restoreImage', image: 'c', hasStatus: true, hasChildren: false },
      { seconds: 0, do: 'useRevision', image: 'c', revision: 1 },
      { seconds: 1, do: 'requestSync', image: 'c' },
    ]),
  },
  {
    invariant: 'S8',
    what: 'an image is not Ready with a foreign snapshot that has the name of its lost, annotated one',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'c' },
      { seconds: 130, do: 'deleteChild', image: 'c', of: 'VolumeSnapshot' },
      { seconds: 0, do: 'useRevision', image: 'c', revision: 1 },
      { seconds: 1, do: 'takeName', image: 'c', of: 'VolumeSnapshot' },
    ]),
  },
  {
    invariant: 'S2',
    what: 'the download of an image that adopts a snapshot has its slot again, after a user removed it from the Lease',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'd' },
        { seconds: 5, do: 'deleteChild', image: 'a', of: 'VolumeSnapshot' },
        { seconds: 0, do: 'policy', key: 'pruneAfter', value: '1s' },
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'lease', how: 'overfull' },
        { seconds: 0, do: 'adopt', image: 'a' },
      ],
      [],
      { order: { seed: 1002061962, share: 1 }, overtakings: [{ at: 76, by: 1 }], troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'B1',
    what: 'a machine that a user deletes and creates again during a reconcile is written once',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 0, do: 'deleteMachine', machine: 'm' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
        { seconds: 0, do: 'publish', image: 'a', digest: 'sha256:1' },
        { seconds: 0, do: 'changeUrl', image: 'c' },
        { seconds: 0, do: 'deleteMachine', machine: 'm' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
      ],
      [],
      { order: { seed: 16, share: 1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S11',
    what: 'the volume of an image whose status and finalizer a user removed is deleted, once the image has adopted a snapshot',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 130, do: 'deleteMachineChild', machine: 'm', of: 'DataVolume' },
        { seconds: 1, do: 'dropFinalizers', image: 'b' },
        { seconds: 0, do: 'wipeStatus', image: 'b' },
        { seconds: 0, do: 'adopt', image: 'b' },
      ],
      [{ kind: 'snapshotRefused', at: 0, count: 3 }],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'L1',
    what: 'an image that Failed because of its snapshot, beside one of an earlier attempt, is Succeeded after the next audits',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'c' },
        { seconds: 40, do: 'garbleStatus', image: 'c' },
        { seconds: 0, do: 'createMachine', machine: 'm', image: 'c', hasTemplate: false },
        { seconds: 40, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
      ],
      [
        { kind: 'forbidden', at: 33 },
        { kind: 'snapshotRefused', at: 0, count: 1 },
      ],
      { order: { seed: 0, share: 0.1 }, overtakings: [{ at: 0, by: 4 }], troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S18',
    what: 'the volume of an attempt that failed is kept if its download ended before it was deleted',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'b' },
        { seconds: 1, do: 'garbleStatus', image: 'b' },
        { seconds: 0, do: 'policy', key: 'retryLimit', value: '0' },
      ],
      [],
      {
        order: { seed: 297058369, share: 0.1 },
        overtakings: [1, 2, 3, 0].map((at) => ({ at, by: 1 })),
        troubleSeconds: 10,
      },
    ),
  },
  {
    invariant: 'B1',
    what: 'leftovers of two earlier images with one name cost one read of that name',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 1, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: true },
        { seconds: 1, do: 'restoreImage', image: 'a', hasStatus: false, hasChildren: true },
      ],
      [],
    ),
  },
  {
    invariant: 'L1',
    what: 'an attempt that a restore brought back without its DataVolume ends, although its status does not say when it started',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 1, do: 'restoreImage', image: 'a', hasStatus: true, hasChildren: false },
        { seconds: 0, do: 'garbleStatus', image: 'a' },
      ],
      [],
      { order: { seed: 1911973712, share: 0.1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S17',
    what: 'an image whose status is wiped while a pipeline publishes other content downloads that content',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'publish', image: 'a', digest: 'sha256:1' },
        { seconds: 0, do: 'wipeStatus', image: 'a' },
        { seconds: 1, do: 'dropFinalizers', image: 'a' },
        { seconds: 1, do: 'dropFinalizers', image: 'a' },
      ],
      [{ kind: 'snapshotRefused', at: 0, count: 1 }],
      { order: { seed: 0, share: 1 }, troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'S11',
    what: 'no revision is used again and no volume stays, although a user removes status and finalizer of an image',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'requestSync', image: 'a' },
        { seconds: 40, do: 'wipeStatus', image: 'a' },
        { seconds: 0, do: 'dropFinalizers', image: 'a' },
      ],
      [{ kind: 'snapshotRefused', at: 1, count: 3 }],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'L1',
    what: 'a finished download whose snapshot was refused is not downloaded again, although its status does not say when it was finished',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'useRevision', image: 'a', revision: 1 },
        { seconds: 130, do: 'garbleStatus', image: 'a' },
      ],
      [{ kind: 'snapshotRefused', at: 0, count: 3 }],
      { troubleSeconds: 0 },
    ),
  },
  {
    invariant: 'L1',
    what: 'a user removes the status of an image while start-sync reads, and its revision is not used again',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'policy', key: 'concurrency', value: '0' },
        { seconds: 0, do: 'useRevision', image: 'a', revision: 1 },
        { seconds: 0, do: 'garbleStatus', image: 'a' },
        { seconds: 0, do: 'requestSync', image: 'a' },
        { seconds: 0, do: 'requestSync', image: 'a' },
        { seconds: 0, do: 'wipeStatus', image: 'a' },
      ],
      [{ kind: 'replicas', function: 'start-sync', count: 2 }],
      { troubleSeconds: 0, seed: 284936795 },
    ),
  },
];
