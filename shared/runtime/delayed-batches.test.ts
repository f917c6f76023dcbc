import { describe, expect, test, vi } from 'vitest';
import { steppedClock } from '../../deploy/local/clock.ts';
import type { Subject } from '../function.ts';
import { delayedBatches } from './delayed-batches.ts';

const subject = (name: string, kind = 'Widget'): Subject => ({ apiVersion: 'v1', kind, namespace: 'lab', name });

/** Delayed batches on a clock to step, and what was reconciled. */
function delayed(fails = false) {
  const clock = steppedClock();
  const reconciled: string[] = [];
  const batches = delayedBatches(
    async ({ kind, name }) => {
      reconciled.push(`${kind} ${name}`);
      if (fails) throw new Error('out of reach');
    },
    clock.after,
    clock.now,
  );
  return { ...batches, clock, reconciled };
}

describe('a delayed reconcile', () => {
  test('begins when its time has come, not before', () => {
    const { requeueAfter, clock, reconciled } = delayed();
    requeueAfter(subject('a'), 2000);
    clock.step(1999);
    expect(reconciled).toEqual([]);
    clock.step(1);
    expect(reconciled).toEqual(['Widget a']);
  });
  test('begins once however often it is asked for, at the earliest time that was asked for', () => {
    const { requeueAfter, clock, reconciled } = delayed();
    for (const afterMs of [2000, 500, 9000]) requeueAfter(subject('a'), afterMs);
    clock.step(499);
    expect(reconciled).toEqual([]);
    clock.step(1);
    expect(reconciled).toEqual(['Widget a']);
    clock.step(60_000);
    expect(reconciled).toEqual(['Widget a']);
  });
  test('may be asked for again once it has begun', () => {
    const { requeueAfter, clock, reconciled } = delayed();
    requeueAfter(subject('a'), 1);
    clock.step(1);
    requeueAfter(subject('a'), 1);
    clock.step(1);
    expect(reconciled).toEqual(['Widget a', 'Widget a']);
  });
  test('begins for each object and each kind', () => {
    const { requeueAfter, clock, reconciled } = delayed();
    for (const one of [subject('a'), subject('b'), subject('a', 'Gadget')]) requeueAfter(one, 1);
    clock.step(1);
    expect(reconciled).toEqual(['Widget a', 'Widget b', 'Gadget a']);
  });
  test('that fails is left to the sweep, and may be asked for again', async () => {
    const { requeueAfter, clock, reconciled } = delayed(true);
    requeueAfter(subject('a'), 1);
    clock.step(1);
    await Promise.resolve();
    requeueAfter(subject('a'), 1);
    clock.step(1);
    expect(reconciled).toHaveLength(2);
  });
  test('is cancelled with all others', () => {
    const { requeueAfter, clock, reconciled, cancelAll } = delayed();
    requeueAfter(subject('a'), 1);
    requeueAfter(subject('b'), 1);
    cancelAll();
    clock.step(60_000);
    expect(reconciled).toEqual([]);
    requeueAfter(subject('a'), 1);
    clock.step(1);
    expect(reconciled).toEqual(['Widget a']);
  });
  test('keeps no process alive', () => {
    const timer = { unref: vi.fn() };
    const spy = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(timer as never);
    const batches = delayedBatches(async () => undefined);
    batches.requeueAfter(subject('a'), 60_000);
    batches.cancelAll();
    spy.mockRestore();
    expect(timer.unref).toHaveBeenCalledOnce();
  });
});
