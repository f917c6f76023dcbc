import { type Operation, type Plan, plainly } from './plan.ts';

/** Small journeys, with up to five objects of the user: every write gets each fault once. */
export const journeys = {
  'an image is created and deleted': plainly([
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
  'an image whose file does not exist': plainly(
    [{ seconds: 0, do: 'createImage', image: 'a' }],
    [{ kind: 'download', at: 0, count: 6, how: 'notFound' }],
  ),
  'an image deleted while it downloads': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 3, do: 'deleteImage', image: 'a' },
  ]),
  'an image that is synced again': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 60, do: 'requestSync', image: 'a' },
  ]),
  'an image that a pipeline publishes': plainly([{ seconds: 0, do: 'publish', image: 'a', digest: 'sha256:1' }]),
  'a machine that creates its image, and is deleted': plainly([
    { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
    { seconds: 60, do: 'deleteMachine', machine: 'm' },
  ]),
  'an image deleted while a machine uses it': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
    { seconds: 60, do: 'deleteImage', image: 'a' },
    { seconds: 10, do: 'deleteMachine', machine: 'm' },
  ]),
  'an unused image is pruned': plainly(
    [
      { seconds: 0, do: 'policy', key: 'prune', value: 'WhenUnreferenced' },
      { seconds: 0, do: 'createImage', image: 'a' },
    ],
    [],
    // Until it is due and deleted.
    { troubleSeconds: 200 },
  ),
  'a Lease that is deleted while an image downloads': plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 3, do: 'lease', how: 'delete' },
  ]),
} as const satisfies Readonly<Record<string, Plan>>;

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
const eachImage = (does: 'createImage' | 'deleteImage' | 'changeUrl', images: readonly string[], seconds = 0) =>
  images.map((image, index): Operation => ({ seconds: index === 0 ? seconds : 0, do: does, image }));

const [three, six, twelve] = [names('image-', 3), names('image-', 6), names('image-', 12)] as const;
const nine = names('machine-', 9);

const forty = names('image-', 40);
const fortyMachines = names('machine-', 40);

/** More objects than requests in flight: one image with many machines, many waiting images, and all deleted together. */
export const crowd: Plan = plainly(
  [
    ...eachImage('createImage', forty.slice(0, 1)),
    { seconds: 40, do: 'policy', key: 'concurrency', value: '0' },
    ...eachImage('createImage', forty.slice(1)),
    ...fortyMachines.map((machine): Operation => {
      return { seconds: 0, do: 'createMachine', machine, image: 'image-1', hasTemplate: false };
    }),
    ...eachImage('deleteImage', forty, 30),
    ...fortyMachines.map((machine): Operation => ({ seconds: 0, do: 'deleteMachine', machine })),
  ],
  [],
  { troubleSeconds: 10 },
);

/** Large journeys: too many writes for a fault at each. */
export const largeJourneys = {
  'nine machines on three images, all deleted': plainly([
    ...eachImage('createImage', three),
    ...nine.map((machine, index): Operation => {
      const image = three[index % three.length] ?? '';
      return { seconds: 0, do: 'createMachine', machine, image, hasTemplate: false };
    }),
    ...eachImage('deleteImage', three, 120),
    ...nine.map((machine): Operation => ({ seconds: 1, do: 'deleteMachine', machine })),
  ]),
  'a release of six images while machines use two': plainly([
    ...eachImage('createImage', six),
    ...six.slice(0, 2).map((image): Operation => {
      return { seconds: 0, do: 'createMachine', machine: `of-${image}`, image, hasTemplate: true };
    }),
    ...eachImage('changeUrl', six, 90),
  ]),
  'twelve images, three slots': plainly([
    { seconds: 0, do: 'policy', key: 'concurrency', value: '3' },
    ...eachImage('createImage', twelve),
  ]),
} as const satisfies Readonly<Record<string, Plan>>;
