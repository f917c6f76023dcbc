import { expect, test } from 'vitest';
import { aDataVolume, aVMDiskImage } from '../support/builders/images.ts';
import { SlotTimes } from './slot-times.ts';

const heardOf = (times: SlotTimes, name: string) => {
  const image = aVMDiskImage({ name, status: { phase: 'Syncing', revision: 1, attempt: 1 } });
  const dataVolume = (phase: string) => aDataVolume(image, { phase });
  return {
    begins: (atMs: number) => times.heardOfDataVolume({ type: 'ADDED', object: dataVolume('') }, atMs),
    imports: (atMs: number) => times.heardOfDataVolume({ type: 'MODIFIED', object: dataVolume('Succeeded') }, atMs),
    isDeleted: (atMs: number) => times.heardOfDataVolume({ type: 'DELETED', object: dataVolume('Succeeded') }, atMs),
  };
};

test('a hand-over lasts from the end of a download to the next DataVolume', () => {
  const times = new SlotTimes();
  const first = heardOf(times, 'first');
  first.begins(1);
  first.imports(100);
  heardOf(times, 'second').begins(130);
  first.isDeleted(500);
  expect(times.handOvers(1)).toEqual([30]);
});

test('slots that come free together are given on one after the other', () => {
  const times = new SlotTimes();
  const syncs = ['a', 'b', 'c', 'd'].map((name) => heardOf(times, name));
  for (const [index, sync] of syncs.slice(0, 2).entries()) sync.begins(index);
  syncs[1]?.imports(100);
  syncs[0]?.imports(104);
  syncs[2]?.begins(120);
  syncs[3]?.begins(125);
  expect(times.handOvers(2)).toEqual([20, 21]);
});

test('the first downloads are no hand-overs: their slots were free before', () => {
  const times = new SlotTimes();
  heardOf(times, 'a').begins(5);
  heardOf(times, 'b').begins(6);
  expect(times.handOvers(2)).toEqual([]);
});
