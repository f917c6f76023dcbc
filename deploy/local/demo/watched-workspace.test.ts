import { expect, test } from 'vitest';
import { type Component, Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { partReadyAtMs, type WatchedWorkspace, watchWorkspace } from './watched-workspace.ts';

const volume = { kind: 'Volume', name: 'data', reason: '', message: '' } as const;
const machine = { kind: 'VirtualMachine', name: 'data', reason: '', message: '' } as const;

const lab = (components: Component[], metadata = {}) =>
  Workspace.parse({
    apiVersion: Workspace.apiVersion,
    kind: Workspace.kind,
    metadata: { name: 'lab', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-22T00:00:00Z', ...metadata },
    spec: {},
    status: { phase: 'Provisioning', ready: '0/2', components },
  });

const seeing = (...states: Workspace[]) =>
  states.reduce<WatchedWorkspace | undefined>((known, state, index) => watchWorkspace(known, state, index), undefined);

test('each part takes a step where its phase is another, whatever other part has its name', () => {
  const seen = seeing(
    lab([
      { ...volume, phase: 'Provisioning' },
      { ...machine, phase: 'Waiting' },
    ]),
    lab([
      { ...volume, phase: 'Provisioning', message: 'Still.' },
      { ...machine, phase: 'Waiting' },
    ]),
    lab([
      { ...volume, phase: 'Ready' },
      { ...machine, phase: 'Waiting' },
    ]),
  );
  expect(seen?.steps.map(({ kind, phase, atMs }) => [kind, phase, atMs])).toEqual([
    ['Volume', 'Provisioning', 0],
    ['VirtualMachine', 'Waiting', 0],
    ['Volume', 'Ready', 2],
  ]);
  expect(seen && [partReadyAtMs(seen, volume), partReadyAtMs(seen, machine)]).toEqual([2, undefined]);
});

test('of a lab that is being deleted its parts stay known as they were before', () => {
  const seen = seeing(
    lab([{ ...volume, phase: 'Ready' }]),
    lab([{ ...machine, phase: 'Terminating' }], { deletionTimestamp: '2026-11-22T00:00:01Z' }),
  );
  expect(seen?.before).toEqual([{ ...volume, phase: 'Ready' }]);
  expect(seen?.parts).toEqual([{ ...machine, phase: 'Terminating' }]);
  expect(seen?.steps.at(-1)).toMatchObject({ isTeardown: true, phase: 'Terminating' });
});

test('another lab of that name begins anew', () => {
  const seen = seeing(lab([{ ...volume, phase: 'Ready' }]), lab([{ ...volume, phase: 'Waiting' }], { uid: 'another' }));
  expect(seen?.steps).toHaveLength(1);
});
