import type { Look } from '../../../deploy/terminal/paint.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { setPolicy } from '../../stories/world.ts';
import type { Machine } from '../machine.ts';
import { costTable, measuredOn } from './beside-costs.ts';
import type { Source } from './images.ts';
import { imagesOfARun, removeImages, type Spent, spent, syncImages } from './runs.ts';

/** The most CPU, in milliseconds, that an image may cost more because its source is inspected. */
export const mostOfInspection = 15;

const pairs = 4;

/** Runs of images whose sources are inspected, each after one of images whose sources are not. */
export interface Inspections {
  without: Spent[];
  inspected: Spent[];
}

export async function measureInspection(kube: Kube, source: Source, say: (line: string) => void): Promise<Inspections> {
  const run = async (inspectTimeout: string, what: string) => {
    say(`${imagesOfARun} images, ${what}`);
    await setPolicy({ kube }, { inspectTimeout });
    const cost = await spent(() => syncImages(kube, source));
    await removeImages(kube);
    return cost;
  };
  await run('30s', 'to warm up');
  const found: Inspections = { without: [], inspected: [] };
  for (let pair = 1; pair <= pairs; pair++) {
    found.without.push(await run('0s', `sources not inspected, ${pair} of ${pairs}`));
    found.inspected.push(await run('30s', `sources inspected, ${pair} of ${pairs}`));
  }
  return found;
}

/** As a table of medians, and whether an inspection costs no more than it may. */
export function reportInspection({ without, inspected }: Inspections, machine: Machine, look: Look) {
  const parts = [...new Set([...without, ...inspected].flatMap(({ cpu }) => Object.keys(cpu)))];
  const perImage = (runs: readonly Spent[], part: string) =>
    median(runs.map(({ cpu }) => ((cpu[part] ?? 0) * 1000) / imagesOfARun));
  const costs = parts.map((part) => [part, perImage(without, part), perImage(inspected, part)] as const);
  const more = costs.reduce((sum, [, one, other]) => sum + other - one, 0);
  const lines = [
    measuredOn(machine),
    '',
    `CPU for each image, in milliseconds, by part: medians of ${pairs} runs of ${imagesOfARun} images each, alternately`,
    ...costTable(['UNINSPECTED', 'INSPECTED'], costs, look),
    '',
    `An inspection costs ${more.toFixed(0)} ms; at most ${mostOfInspection} are promised.`,
  ];
  return { lines, ok: more <= mostOfInspection };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
