import { describe, expect, test } from 'vitest';
import { VirtualMachine, VirtualMachineInstance, word } from './kinds.ts';
import { nextForMachine, type ObservedMachine } from './machine-step.ts';

const template = { spec: { domain: { devices: {} } } };
const nowMs = Date.parse('2026-01-01T00:00:00Z');

const aMachine = (spec: object = { runStrategy: 'Always' }, status: object = {}, metadata: object = {}) =>
  VirtualMachine.parse({
    metadata: { name: 'pc', namespace: 'default', generation: 3, finalizers: [word.machineFinalizer], ...metadata },
    spec: { template, ...spec },
    status,
  });

const anInstance = (phase: string, ran = false, metadata: object = {}) =>
  VirtualMachineInstance.parse({
    metadata: { name: 'pc', namespace: 'default', uid: 'run-1', annotations: { [word.generation]: '3' }, ...metadata },
    spec: template.spec,
    status: { phase, phaseTransitionTimestamps: ran ? [{ phase: 'Running' }] : [] },
  });

const look = (machine: VirtualMachine, instance?: VirtualMachineInstance, also: Partial<ObservedMachine> = {}) =>
  nextForMachine({
    machine,
    instance,
    dataVolume: () => undefined,
    claim: () => undefined,
    seesDataVolumeError: false,
    refusals: new Map(),
    backOffScale: 1,
    nowMs,
    ...also,
  });

/** Its writes in a word each. */
const does = (...given: Parameters<typeof look>) =>
  look(...given)
    .writes.filter((write) => write.do !== 'event')
    .map((write) => {
      const what = 'subresource' in write && write.subresource ? write.subresource : write.do;
      return `${what} ${write.resource.kind}`;
    });
const statusOf = (...given: Parameters<typeof look>) => {
  const write = look(...given).writes.find((one) => one.do === 'patch' && one.subresource === 'status');
  return write?.do === 'patch' ? (write.patch.status as Record<string, unknown>) : undefined;
};

describe('the first step', () => {
  test('is the finalizer, then there is a first status', () => {
    const fresh = aMachine({ runStrategy: 'Always' }, {}, { finalizers: [] });
    expect(does(fresh)).toEqual(['patch VirtualMachine', 'status VirtualMachine']);
    expect(statusOf(fresh)).toMatchObject({
      created: false,
      ready: false,
      printableStatus: 'Stopped',
      conditions: [{ type: 'Ready', status: 'False', reason: 'VMINotExists', message: 'VMI does not exist' }],
    });
  });

  test('a status that says it all already is not written again, in whatever order it stands', () => {
    const { conditions, ...rest } = statusOf(aMachine({ runStrategy: 'Halted' })) as { conditions: object[] };
    const turned = conditions.map((one) => Object.fromEntries(Object.entries(one).reverse()));
    expect(does(aMachine({ runStrategy: 'Halted' }, { ...rest, conditions: turned }))).toEqual([]);
  });
});

test.each<[strategy: string, status: object, instance: VirtualMachineInstance | undefined, expected: string[]]>([
  ['Always', {}, undefined, ['create VirtualMachineInstance']],
  ['Always', {}, anInstance('Running', true), []],
  ['Always', {}, anInstance('Succeeded', true), ['delete VirtualMachineInstance']],
  ['Always', {}, anInstance('Succeeded', true, { deletionTimestamp: '2026-01-01T00:00:00Z' }), []],
  ['Halted', {}, undefined, []],
  ['Halted', {}, anInstance('Running', true), ['delete VirtualMachineInstance']],
  ['RerunOnFailure', {}, undefined, ['create VirtualMachineInstance']],
  ['RerunOnFailure', { runStrategy: 'RerunOnFailure' }, undefined, []],
  ['RerunOnFailure', { runStrategy: 'RerunOnFailure' }, anInstance('Failed'), ['delete VirtualMachineInstance']],
  ['Manual', {}, undefined, []],
  ['Manual', { stateChangeRequests: [{ action: 'Start' }] }, undefined, ['create VirtualMachineInstance']],
  ['Manual', { stateChangeRequests: [{ action: 'Stop', uid: 'another' }] }, anInstance('Running', true), []],
])('%s with %o', (runStrategy, status, instance, expected) => {
  const writes = does(aMachine({ runStrategy }, status), instance);
  expect(writes.filter((write) => write.endsWith('Instance'))).toEqual(expected);
});

test('the deprecated `running` is Always or Halted', () => {
  expect(does(aMachine({ running: true }))).toContain('create VirtualMachineInstance');
  expect(does(aMachine({ running: false }))).not.toContain('create VirtualMachineInstance');
});

describe('a start that fails', () => {
  test('is counted once, with the square of their number times ten seconds to wait, at most 300', () => {
    const status = { startFailure: { consecutiveFailCount: 1, lastFailedVMIUID: 'run-0' } };
    const counted = statusOf(aMachine(undefined, status), anInstance('Failed'));
    expect(counted?.startFailure).toEqual({
      consecutiveFailCount: 2,
      lastFailedVMIUID: 'run-1',
      retryAfterTimestamp: '2026-01-01T00:00:40.000Z',
    });
    const again = statusOf(
      aMachine(undefined, { ...status, startFailure: counted?.startFailure }),
      anInstance('Failed'),
    );
    expect(again).not.toHaveProperty('startFailure');
    const often = { startFailure: { consecutiveFailCount: 9, lastFailedVMIUID: 'run-0' } };
    expect(statusOf(aMachine(undefined, often), anInstance('Failed'))?.startFailure).toMatchObject({
      retryAfterTimestamp: '2026-01-01T00:05:00.000Z',
    });
  });

  test('delays the next one', () => {
    const startFailure = { consecutiveFailCount: 1, retryAfterTimestamp: '2026-01-01T00:00:10Z' };
    expect(look(aMachine(undefined, { startFailure })).waitMs).toBe(10_000);
    expect(does(aMachine(undefined, { startFailure }))).toEqual(['status VirtualMachine']);
    expect(does(aMachine(undefined, { startFailure }), undefined, { nowMs: nowMs + 10_000 })).toContain(
      'create VirtualMachineInstance',
    );
  });

  test('is no failure if the guest was running', () => {
    expect(statusOf(aMachine(), anInstance('Failed', true))).not.toHaveProperty('startFailure');
  });
});

test('the status of an instance stays after its deletion, until the next instance replaces it', () => {
  const conditions = [{ type: 'AgentConnected', status: 'True' }];
  const kept = statusOf(aMachine(undefined, { conditions }))?.conditions;
  expect(kept).toContainEqual(conditions[0]);
  expect(statusOf(aMachine(undefined, { conditions }), anInstance('Pending'))?.conditions).not.toContainEqual(
    conditions[0],
  );
});

test('a machine is deleted after its instance, whose end is recorded first', () => {
  const deleted = aMachine(undefined, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(does(deleted, anInstance('Running', true))).toEqual([
    'delete VirtualMachineInstance',
    'status VirtualMachine',
  ]);
  const held = anInstance('Succeeded', true, {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [word.machineFinalizer],
  });
  expect(does(deleted, held)).toEqual(['status VirtualMachine', 'patch VirtualMachineInstance']);
  expect(does(deleted)[0]).toBe('patch VirtualMachine');
});
