import { describe, expect, test } from 'vitest';
import { at, aVMDiskImage } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { heldFacts, machineFacts, newFacts } from './new-facts.ts';

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
  test('are empty without a change, and without a history', () => {
    expect(facts(withHistory('u', queued), withHistory('u', queued))).toEqual([]);
    expect(facts(undefined, aVMDiskImage())).toEqual([]);
  });
  test('of an image from a registry say that nothing was downloaded', () => {
    const history = [entry(1, 'Syncing'), entry(2, 'Succeeded')];
    const image = aVMDiskImage({ spec: { url: 'docker://quay.io/x/y', sourceType: 'registry' }, status: { history } });
    expect(newFacts(undefined, image).map(({ message }) => message)).toEqual([
      'Syncing.',
      'Succeeded. Its disk is empty: the local cluster downloads nothing from a registry.',
    ]);
  });
  test('of an image that was made again under the same name are its own', () => {
    expect(facts(withHistory('old', queued), withHistory('new', queued))).toEqual(['Queued']);
  });
});

describe('facts of a machine', () => {
  const nowMs = Date.parse(at(60));
  const condition = (type: string, reason: string, message = '') => ({
    type,
    status: 'True' as const,
    reason,
    message,
    lastTransitionTime: at(5),
  });
  const machine = (phase: 'Provisioning' | 'Ready', reason: string, uid = 'u') =>
    aVirtualMachine({ uid, status: { phase, message: `${reason}.`, conditions: [condition('Ready', reason)] } });
  const said = (...of: [Parameters<typeof machineFacts>[0], Parameters<typeof machineFacts>[1]]) =>
    machineFacts(...of, nowMs).map(({ time, about, fact, message }) => [time, about, fact, message]);

  test('are another phase and another reason, and nothing else', () => {
    const syncing = machine('Provisioning', 'ImageSyncing');
    const now = new Date(nowMs).toISOString();
    expect(said(syncing, machine('Provisioning', 'Cloning'))).toEqual([[now, 'lab/demo', 'Provisioning', 'Cloning.']]);
    expect(said(syncing, machine('Ready', 'Running'))).toEqual([[now, 'lab/demo', 'Ready', 'Running.']]);
    expect(said(syncing, syncing)).toEqual([]);
  });
  test('of an object that existed before are since when', () => {
    expect(said(undefined, machine('Ready', 'Running'))).toEqual([[at(5), 'lab/demo', 'Ready', 'Running.']]);
  });
  test('of an object that was created again are its own', () => {
    expect(said(machine('Ready', 'Running', 'old'), machine('Ready', 'Running'))).toHaveLength(1);
  });
  test('are empty for an object that no function has observed', () => {
    expect(said(undefined, aVirtualMachine())).toEqual([]);
  });
  test('an image that is held says by whom, once', () => {
    const held = (message: string) =>
      aVMDiskImage({ deleted: true, status: { conditions: [condition('DeletionHeld', 'Referenced', message)] } });
    expect(heldFacts(aVMDiskImage(), held('lab/a uses it.'), nowMs)).toMatchObject([
      { fact: 'Terminating', message: 'lab/a uses it.' },
    ]);
    expect(heldFacts(held('lab/a uses it.'), held('lab/a uses it.'), nowMs)).toEqual([]);
    expect(heldFacts(held('lab/a uses it.'), held('lab/b uses it.'), nowMs)).toHaveLength(1);
  });
});
