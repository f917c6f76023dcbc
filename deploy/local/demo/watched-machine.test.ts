import { describe, expect, test } from 'vitest';
import type { VirtualMachineStatus } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { aVirtualMachine, type MachineOptions } from '../../../test/support/builders/machines.ts';
import { hasWaited, readyAtMs, type WatchedMachine, watchMachine } from './watched-machine.ts';

/** What was seen of a machine that went through these states, each at so many milliseconds. */
function watched(...states: [atMs: number, status: VirtualMachineStatus | undefined, more?: MachineOptions][]) {
  let machine: WatchedMachine | undefined;
  for (const [atMs, status, more] of states)
    machine = watchMachine(machine, aVirtualMachine({ ...(status ? { status } : {}), ...more }), atMs);
  return machine as WatchedMachine;
}

const waiting = { phase: 'Provisioning', message: 'Waiting for VMDiskImage vmdi-farm/ubuntu: Syncing.' } as const;
const running = { phase: 'Ready', message: 'The machine runs.' } as const;

describe('a machine that is watched', () => {
  test('takes a step whenever it says something new', () => {
    expect(watched([0, undefined], [1, waiting], [2, { ...waiting, nodeName: 'n' }], [3, running]).steps).toEqual([
      { phase: '', message: '', atMs: 0 },
      { ...waiting, atMs: 1 },
      { ...running, atMs: 3 },
    ]);
  });
  test('is the same object where nothing changed that is told', () => {
    const before = watched([0, waiting]);
    expect(watchMachine(before, aVirtualMachine({ status: waiting }), 5)).toBe(before);
  });
  test('tells its address and its end without a step', () => {
    const machine = watched([0, running], [1, { ...running, ipAddress: '10.0.0.1' }, { deleted: true }]);
    expect(machine).toMatchObject({ ipAddress: '10.0.0.1', isTerminating: true });
    expect(machine.steps).toHaveLength(1);
  });
  test('that was deleted and made again is another one', () => {
    expect(watched([0, running], [7, undefined, { uid: 'another' }]).steps).toEqual([
      { phase: '', message: '', atMs: 7 },
    ]);
  });
});

test('a machine is Ready from the first time on', () => {
  expect(readyAtMs(watched([0, waiting], [4, running], [5, waiting], [6, running]))).toBe(4);
  expect(readyAtMs(watched([0, waiting]))).toBeUndefined();
});

test.each<[boolean, string, VirtualMachineStatus]>([
  [true, 'its image syncs', waiting],
  [false, 'its disk is cloned', { phase: 'Provisioning', message: 'DataVolume lab/demo-root is being cloned.' }],
  [false, 'it runs', running],
])('has waited for its image: %s where %s', (expected, _, status) => {
  expect(hasWaited(watched([0, status]))).toBe(expected);
});
