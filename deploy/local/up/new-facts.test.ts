import { describe, expect, test } from 'vitest';
import { at, aVMDiskImage } from '../../../test/builders.ts';
import { newFacts } from './new-facts.ts';

const entry = (second: number, fact: string) => ({ time: at(second), fact, message: `${fact}.` });
const withHistory = (uid: string, ...history: ReturnType<typeof entry>[]) => aVMDiskImage({ uid, status: { history } });
const facts = (...of: Parameters<typeof newFacts>) => newFacts(...of).map(({ fact }) => fact);

const [queued, syncing, retrying] = [entry(1, 'Queued'), entry(2, 'Syncing'), entry(3, 'Retrying')];

describe('new facts', () => {
  test('of an image seen for the first time are all of its history', () => {
    expect(facts(undefined, withHistory('u', queued, syncing))).toEqual(['Queued', 'Syncing']);
  });
  test('are what was added since', () => {
    expect(facts(withHistory('u', queued), withHistory('u', queued, syncing))).toEqual(['Syncing']);
  });
  test('are found where the oldest have been dropped', () => {
    expect(facts(withHistory('u', queued, syncing), withHistory('u', syncing, retrying))).toEqual(['Retrying']);
  });
  test('are all where nothing that was known is left', () => {
    expect(facts(withHistory('u', queued), withHistory('u', retrying))).toEqual(['Retrying']);
  });
  test('are none where nothing changed, and where there is no history', () => {
    expect(facts(withHistory('u', queued), withHistory('u', queued))).toEqual([]);
    expect(facts(undefined, aVMDiskImage())).toEqual([]);
  });
  test('of an image that was made again under the same name are its own', () => {
    expect(facts(withHistory('old', queued), withHistory('new', queued))).toEqual(['Queued']);
  });
});
