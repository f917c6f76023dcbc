import { describe, expect, test, vi } from 'vitest';
import { steppedClock } from '../../deploy/local/clock.ts';
import type { Subject } from '../function.ts';
import { delayedBatches } from './delayed-batches.ts';

const subject = (name: string, kind = 'Widget'): Subject => ({ apiVersion: 'v1', kind, namespace: 'lab', name });

/** Looks on a clock to step, and whom they were at. */
function looking(fails = false) {
  const clock = steppedClock();
  const looked: string[] = [];
  const looks = delayedBatches(
    async ({ kind, name }) => {
      looked.push(`${kind} ${name}`);
      if (fails) throw new Error('out of reach');
    },
    clock.after,
    clock.now,
  );
  return { ...looks, clock, looked };
}

describe('a later look', () => {
  test('is taken when its time has come, not before', () => {
    const { look, clock, looked } = looking();
    look(subject('a'), 2000);
    clock.step(1999);
    expect(looked).toEqual([]);
    clock.step(1);
    expect(looked).toEqual(['Widget a']);
  });
  test('is taken once however often it is asked for, at the earliest time that was said', () => {
    const { look, clock, looked } = looking();
    for (const afterMs of [2000, 500, 9000]) look(subject('a'), afterMs);
    clock.step(499);
    expect(looked).toEqual([]);
    clock.step(1);
    expect(looked).toEqual(['Widget a']);
    clock.step(60_000);
    expect(looked).toEqual(['Widget a']);
  });
  test('may be asked for again once it was taken', () => {
    const { look, clock, looked } = looking();
    look(subject('a'), 1);
    clock.step(1);
    look(subject('a'), 1);
    clock.step(1);
    expect(looked).toEqual(['Widget a', 'Widget a']);
  });
  test('is taken at each object and each kind', () => {
    const { look, clock, looked } = looking();
    for (const one of [subject('a'), subject('b'), subject('a', 'Gadget')]) look(one, 1);
    clock.step(1);
    expect(looked).toEqual(['Widget a', 'Widget b', 'Gadget a']);
  });
  test('that fails is left to the sweep, and may be asked for again', async () => {
    const { look, clock, looked } = looking(true);
    look(subject('a'), 1);
    clock.step(1);
    await Promise.resolve();
    look(subject('a'), 1);
    clock.step(1);
    expect(looked).toHaveLength(2);
  });
  test('is called off with all others', () => {
    const { look, clock, looked, forget } = looking();
    look(subject('a'), 1);
    look(subject('b'), 1);
    forget();
    clock.step(60_000);
    expect(looked).toEqual([]);
    look(subject('a'), 1);
    clock.step(1);
    expect(looked).toEqual(['Widget a']);
  });
  test('keeps no process alive', () => {
    const timer = { unref: vi.fn() };
    const spy = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(timer as never);
    const looks = delayedBatches(async () => undefined);
    looks.look(subject('a'), 60_000);
    looks.forget();
    spy.mockRestore();
    expect(timer.unref).toHaveBeenCalledOnce();
  });
});
