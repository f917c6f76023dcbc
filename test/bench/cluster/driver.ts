import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { policyRef } from '../../../shared/policy.ts';
import { benchNamespace, benchPolicy, imageSpec, type Source } from './images.ts';

const quantiles = z.looseObject({ p50: z.number(), p99: z.number() });

/** What the outside bench finds of a controller of VMDiskImages, as far as it is held against a promise. */
export const DriverResult = z.object({
  outcome: z.object({ done: z.number(), failed: z.number(), of: z.number(), dnf: z.boolean() }),
  createToFirstStatusMs: quantiles.nullable(),
  handover: z.object({ ms: quantiles.nullable(), startedBeforeASlotWasFree: z.number() }),
  makespanOverIdeal: z.number().nullable(),
  /** The share of the slots' time, until the last download ended, in which they were in use. */
  slotUse: z.number(),
  admission: z.object({ limit: z.number(), maxInFlight: z.number(), startsOverLimit: z.number() }),
  fifo: z.object({ inversionsOver1sApart: z.number() }),
  api: z.object({ writesPerImage: z.number(), perImage: z.number() }),
  machine: z.object({ loadBefore: z.array(z.number()), loadPeak: z.number() }),
});
export type DriverResult = z.infer<typeof DriverResult>;

/** One run of the outside bench: number of images and slots, the download's time, the phase that means ready. */
export interface DriverRun {
  images: number;
  slots: number;
  importMs: number;
  readyPhase: string;
  /** The API group of the images. */
  group: string;
}

/** The limit of a run: a second for each image, and five minutes at least. */
export const secondsFor = (images: number) => Math.max(300, images);

/** Runs `driver.mjs` of the bench folder beside the checkout; what it says of its progress goes to stderr. */
export async function drive(
  folder: string,
  { images, slots, importMs, readyPhase, group }: DriverRun,
  source: Pick<Source, 'url'>,
): Promise<DriverResult> {
  const out = await mkdtemp(join(tmpdir(), 'ot-driver-'));
  const policy = Object.entries(benchPolicy(source, slots))
    .map((entry) => entry.join('='))
    .join(',');
  try {
    await ended(
      spawn(
        process.execPath,
        [
          join(folder, 'driver.mjs'),
          ...['--kubeconfig', process.env.KUBECONFIG ?? '', '--out', join(out, 'result.json')],
          ...['--group', group, '--n', `${images}`, '--c', `${slots}`, '--import-ms', `${importMs}`],
          ...['--ns', benchNamespace, '--spec', JSON.stringify(imageSpec(source))],
          ...['--policy', keyOf(policyRef), '--policy-data', policy],
          ...[
            '--done',
            readyPhase,
            '--failed',
            'Failed',
            '--timeout-s',
            `${secondsFor(images)}`,
            '--delete-after',
            'false',
          ],
        ],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      ),
    );
    return DriverResult.parse(JSON.parse(await readFile(join(out, 'result.json'), 'utf8')));
  } finally {
    await rm(out, { recursive: true });
  }
}

/** Starts `floor.mjs`, the least that any controller has to write, and resolves when it watches. */
export async function startFloor(folder: string, group: string, slots: number): Promise<{ stop(): Promise<void> }> {
  const child = spawn(
    process.execPath,
    [join(folder, 'floor.mjs'), '--kubeconfig', process.env.KUBECONFIG ?? '', '--group', group, '--c', `${slots}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`expected floor.mjs to stay, found its end with ${code}`)));
  });
  return {
    stop: async () => {
      child.kill();
      await gone;
    },
  };
}

const ended = (child: ReturnType<typeof spawn>) =>
  new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`expected driver.mjs to end with 0, found ${code}`)),
    );
  });
