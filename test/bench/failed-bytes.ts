import { putImage } from '../stories/images.ts';
import { onLocalCluster } from '../stories/local-world.ts';
import { createImage, untilPhase, type World } from '../stories/world.ts';

/** What the object store sent for an image whose download breaks. */
export interface FailedBytes {
  what: string;
  retryLimit: number;
  attempts: number;
  /** The size of the image. */
  needed: number;
  sent: number;
  /** What may flow beyond that until deleted importers are gone: a quarter of a second's worth for each attempt that failed. */
  flowBytes: number;
}

const retryLimit = 2;

/** Slow enough that a download lasts longer than ending it: real ones take minutes. */
const bytesPerSecond = 2_000_000;

/** The first GET of an attempt only looks at the header, and counts as one of `times`. */
const rows = [
  { what: 'cut in the middle once, then whole', fault: { fraction: 0.5, times: 2 }, ends: 'Succeeded' },
  { what: 'always cut at nine tenths', fault: { fraction: 0.9 }, ends: 'Failed' },
  { what: 'whole', fault: undefined, ends: 'Succeeded' },
] as const;

/** Downloads images that break, with the simulated CDI and a real importer, and counts what the store sent for them. */
export async function measureFailedBytes(): Promise<FailedBytes[]> {
  const found: FailedBytes[] = [];
  await onLocalCluster({
    name: 'bytes of failing downloads',
    policy: { retryLimit: String(retryLimit), retryBackoffDuration: '100ms' },
    run: async (world) => {
      world.store.limitTo(bytesPerSecond);
      for (const [index, row] of rows.entries()) found.push(await measureOne(world, `row-${index}`, row));
    },
  });
  return found;
}

async function measureOne(
  world: World,
  name: string,
  { what, fault, ends }: (typeof rows)[number],
): Promise<FailedBytes> {
  const needed = await putImage(world, name, { dataBytes: 4 * 1024 * 1024 });
  if (fault) world.store.faults.push({ match: name, mode: 'cutAt', ...fault });
  await createImage(world, name);
  const { status } = await untilPhase(world, name, ends, 30_000);
  const attempts = status?.attempts ?? 0;
  const failed = ends === 'Failed' ? attempts : attempts - 1;
  const sent = world.store.bytesSent(`images/${name}.qcow2`);
  return { what, retryLimit, attempts, needed, sent, flowBytes: (failed * bytesPerSecond) / 4 };
}
