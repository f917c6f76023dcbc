import type { Fault, Operation, Plan } from './plan.ts';

/** In the plain order, but for what goes wrong. */
export const plainly = (operations: readonly Operation[], faults: readonly Fault[] = []): Plan => ({
  operations,
  faults,
  order: { seed: 0, share: 0 },
  overtakings: [],
  troubleSeconds: 60,
  isDeaf: false,
  seed: 0,
});

/** What the simulation once found, as it was shrunk, and which invariant it broke. Each is fixed, and stays so. */
export const examples: readonly { invariant: string; what: string; plan: Plan }[] = [
  {
    invariant: 'S2',
    what: 'a Lease edited by hand let more downloads in than the policy allows',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 1, do: 'lease', how: 'overfull' },
    ]),
  },
  {
    invariant: 'S3',
    what: 'a slot rebuilt from an importer Pod was said to be that of an image with the name of the Pod',
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 1, do: 'deleteImage', image: 'a' },
      { seconds: 0, do: 'lease', how: 'overfull' },
    ]),
  },
  {
    invariant: 'L1',
    what: 'an image waited for its snapshot for ever where somebody took out of its status since when',
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
    what: 'a failed image was tried again at once where somebody took out of its status when it is due',
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
    what: "an image whose snapshot was lost was Ready again with somebody else's of that name",
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'd' },
      { seconds: 41, do: 'loseSnapshot', image: 'd' },
      { seconds: 1, do: 'takeName', image: 'd', of: 'VolumeSnapshot' },
    ]),
  },
  {
    invariant: 'L2',
    what: 'nobody was let in for as long as the clock had been ahead by which the Lease was rebuilt',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 0, do: 'lease', how: 'delete' },
      ],
      [{ kind: 'clockJump', function: 'start-sync', at: 0, seconds: 60 }],
    ),
  },
  {
    invariant: 'S9',
    what: 'the time of a transition went back where the clock of its writer was behind',
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'deleteImage', image: 'a' },
      ],
      [{ kind: 'skew', function: 'follow-sync', seconds: 10 }],
    ),
  },
];
