import { chunk } from '../../shared/chunk.ts';
import { type Context, type Subject, subjectOf } from '../../shared/function.ts';
import { quantileOf, rateIn } from '../../shared/images/download-share.ts';
import { basisFrom, durationOf, snapshotDurationOf } from '../../shared/images/forecast.ts';
import { isFinished, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import type { Downloads } from './observed.ts';
import { listClasses } from './read/classes.ts';
import { isOutdated } from './read/finished.ts';
import { mayHeal } from './transition/next-transition.ts';
import { refusalOf } from './transition/refusal.ts';

/** The finished images of one reconcile: each is read once more, and so is the Secret that it may lack. */
const mostAtOnce = 50;

/**
 * Names the finished images that may have to change, and tells how long the downloads took, for the forecasts. Of the unfinished ones the
 * reconcile that ends the audit reads all.
 */
export async function* audit({ kube }: Pick<Context, 'kube'>): AsyncGenerator<Subject[], Downloads> {
  const [policy, classes] = await Promise.all([readPolicy(kube), listClasses(kube)]);
  const isHealed = (image: VMDiskImage) => mayHeal(image) && !refusalOf(image, { policy, classes, inputs: new Map() });
  const [tookMs, rates, snapshotsMs]: [number[], number[], number[]] = [[], [], []];
  for await (const { items } of kube.pages(VMDiskImage)) {
    const finished = items.filter(({ status }) => isFinished(status?.phase));
    tookMs.push(...finished.flatMap((image) => durationOf(image) ?? []));
    rates.push(...finished.flatMap((image) => rateIn(image) ?? []));
    snapshotsMs.push(...finished.flatMap((image) => snapshotDurationOf(image) ?? []));
    const due = finished.filter((image) => isOutdated(image) || isHealed(image));
    yield* chunk(due.map(subjectOf), mostAtOnce);
  }
  return {
    ...basisFrom(tookMs),
    rate: quantileOf(rates, 0.5),
    longMs: quantileOf(tookMs, 0.9),
    snapshotMs: quantileOf(snapshotsMs, 0.5),
  };
}
