import { plainly } from './examples.ts';
import type { Plan } from './plan.ts';

/** Small journeys, up to five objects of the user's each, whose every write is struck once in each way. */
export const journeys: Readonly<Record<string, Plan>> = {
  'an image comes and goes': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 40, do: 'deleteImage', image: 'a' },
  ]),
  'two images, one slot': plainly([
    { seconds: 0, do: 'policy', key: 'concurrency', value: '1' },
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 0, do: 'createImage', image: 'b' },
  ]),
  'a download that is cut off once': plainly(
    [{ seconds: 0, do: 'createImage', image: 'a' }],
    [{ kind: 'download', at: 0, count: 1, how: 'cut' }],
  ),
  'an image that is not in the store': plainly(
    [{ seconds: 0, do: 'createImage', image: 'a' }],
    [{ kind: 'download', at: 0, count: 6, how: 'notFound' }],
  ),
  'an image deleted while it downloads': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 3, do: 'deleteImage', image: 'a' },
  ]),
  'an image that is synced anew': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 60, do: 'requestSync', image: 'a' },
  ]),
  'a machine that brings its image, and goes': plainly([
    { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
    { seconds: 60, do: 'deleteMachine', machine: 'm' },
  ]),
  'an image deleted while a machine holds it': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
    { seconds: 60, do: 'deleteImage', image: 'a' },
    { seconds: 10, do: 'deleteMachine', machine: 'm' },
  ]),
  'an image that nobody uses is pruned': {
    ...plainly([
      { seconds: 0, do: 'policy', key: 'prune', value: 'WhenUnreferenced' },
      { seconds: 0, do: 'createImage', image: 'a' },
    ]),
    // Until it is due, and gone.
    troubleSeconds: 200,
  },
  'a Lease that is deleted while an image downloads': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 3, do: 'lease', how: 'delete' },
  ]),
};

/** Those that have the most writes, and so take half of the time of all: struck in the slow suite. */
export const longJourneys: readonly string[] = [
  'two images, one slot',
  'an image that is synced anew',
  'an image deleted while a machine holds it',
];
