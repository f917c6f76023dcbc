import type { Action } from '../../../shared/actions.ts';
import { type Batch, type FunctionDeclaration, noEvents } from '../../../shared/function.ts';
import { observeReadable } from '../../../shared/runtime/observe.ts';
import { isUnreadable } from '../../../shared/runtime/unreadable.ts';
import { noClouds } from '../../support/builders/images.ts';
import type { AsOf, Given, Recording } from './recording.ts';

/** The moment and the content of the reads of a reconcile. */
export interface Reads {
  asOf: AsOf;
  given: Given;
  nowMs: number;
  batch?: Partial<Batch>;
}

export async function decided<Observed>(
  declaration: FunctionDeclaration<Observed>,
  recording: Recording,
  { asOf, given, nowMs, batch }: Reads,
): Promise<Action[]> {
  const kube = recording.reader(asOf, given);
  const context = { kube, nowMs, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 };
  const seen = await observeReadable(declaration, context, { ...noEvents, ...batch });
  return seen.flatMap((one) => {
    if (isUnreadable(one)) throw one.error;
    return declaration.decide(one);
  });
}
