import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { VirtualMachine, type VirtualMachineStatus } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { aVirtualMachine, type MachineOptions } from '../../../test/support/builders/machines.ts';
import { type StepReport, watcher, watchOf } from './watcher.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

const before: (string | undefined)[] = [];
const watch = watchOf({
  kind: VirtualMachine,
  state: ({ status }) => ({ phase: status?.phase ?? '', message: status?.message ?? '' }),
  shown: ({ status }) => (status?.phase ? { phase: status.phase, remark: status.message ?? '' } : undefined),
  saw: (_, known) => void before.push(known?.status?.message),
});

/** Sees a machine in these states, each at that many milliseconds. */
function seeing(...states: [atMs: number, status: VirtualMachineStatus | undefined, more?: MachineOptions][]) {
  const reports: StepReport[] = [];
  const seen = watcher((step) => reports.push(step));
  before.splice(0);
  for (const [atMs, status, more] of states) {
    vi.setSystemTime(atMs);
    seen.see(watch, aVirtualMachine({ ...(status ? { status } : {}), ...more }));
  }
  return { seen, reports, machine: () => seen.one(VirtualMachine, { namespace: 'lab', name: 'demo' }) };
}

const waiting = { phase: 'Provisioning', message: 'Waiting for VMDiskImage vmdi-farm/ubuntu: Syncing.' } as const;
const running = { phase: 'Ready', message: 'The machine runs.' } as const;

describe('an object that is watched', () => {
  test('takes a step whenever it says something new, which is reported if there is something to display', () => {
    const { machine, reports } = seeing([0, undefined], [1, waiting], [2, { ...waiting, nodeName: 'n' }], [3, running]);
    expect(machine()?.steps).toEqual([
      { phase: '', message: '', atMs: 0 },
      { ...waiting, atMs: 1 },
      { ...running, atMs: 3 },
    ]);
    expect(reports.map(({ name, phase }) => [name, phase])).toEqual([
      ['demo', 'Provisioning'],
      ['demo', 'Ready'],
    ]);
    expect(before).toEqual([undefined, undefined, waiting.message, waiting.message]);
  });
  test('is kept in its latest state, also after a change that is no step', () => {
    const { machine } = seeing([0, running], [1, { ...running, ipAddress: '10.0.0.1' }]);
    expect(machine()).toMatchObject({ object: { status: { ipAddress: '10.0.0.1' } }, steps: [{ atMs: 0 }] });
  });
  test('that was deleted and made again is another one', () => {
    const { machine } = seeing([0, running], [7, undefined, { uid: 'another' }]);
    expect(machine()?.steps).toEqual([{ phase: '', message: '', atMs: 7 }]);
    expect(before).toEqual([undefined, undefined]);
  });
  test('is kept in its last state after its deletion, and no longer listed', () => {
    const { seen, reports, machine } = seeing([5, running]);
    seen.see(watch, aVirtualMachine(), true);
    expect(machine()).toMatchObject({ object: { status: running }, goneAtMs: 5 });
    expect(seen.all(VirtualMachine)).toEqual([]);
    expect(reports.at(-1)).toEqual({ kind: 'VirtualMachine', name: 'demo', phase: 'Gone', remark: '' });
  });
});

test('until resolves as soon as something is found', async () => {
  const { seen, machine } = seeing([0, waiting]);
  const ready = seen.until(() => machine()?.object.status?.phase === 'Ready').then(() => 'ready');
  expect(await Promise.race([ready, Promise.resolve('not yet')])).toBe('not yet');
  seen.see(watch, aVirtualMachine({ status: running }));
  expect(await ready).toBe('ready');
});
