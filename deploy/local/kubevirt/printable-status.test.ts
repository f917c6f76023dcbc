import { expect, test } from 'vitest';
import { VirtualMachine, VirtualMachineInstance } from './kinds.ts';
import { type ObservedForPrinting, printableStatus } from './printable-status.ts';

const metadata = { name: 'pc', namespace: 'default' };
const spec = { domain: { devices: {} }, volumes: [{ name: 'root', dataVolume: { name: 'root' } }] };
const machine = (runStrategy = 'Always', also: object = {}) =>
  VirtualMachine.parse({ metadata: { ...metadata, ...also }, spec: { runStrategy, template: { spec } } });
const instance = (phase: string, conditions: object[] = [], also: object = {}) =>
  VirtualMachineInstance.parse({ metadata: { ...metadata, ...also }, spec, status: { phase, conditions } });
const deletionTimestamp = '2026-01-01T00:00:00Z';
const notSynchronized = (reason: string) => [{ type: 'Synchronized', status: 'False', reason }];
const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };

type DataVolume = ReturnType<ObservedForPrinting['dataVolume']>;
type Claim = ReturnType<ObservedForPrinting['claim']>;
const disk = (phase: string, conditions: object[] = []) => ({ status: { phase, conditions } }) as unknown as DataVolume;
const claim = (phase: string) => ({ status: { phase } }) as unknown as Claim;
const failing = [{ type: 'Running', status: 'False', reason: 'Error' }];

interface Row {
  machine?: VirtualMachine;
  instance?: VirtualMachineInstance;
  starting?: boolean;
  disk?: DataVolume;
  claim?: Claim;
  failures?: number;
}

test.each<[expected: string, when: string, row: Row]>([
  [
    'Terminating',
    'it is deleted, though its guest runs',
    { machine: machine('Always', { deletionTimestamp }), instance: instance('Running') },
  ],
  ['Stopping', 'its guest is shut down', { instance: instance('Running', [], { deletionTimestamp }) }],
  ['Running', 'its guest runs, whatever its disk says', { instance: instance('Running'), disk: disk('Failed') }],
  [
    'ErrorPvcNotFound',
    'a claim is missing, which also makes it unschedulable',
    { instance: instance('Pending', [...notSynchronized('FailedPvcNotFound'), unschedulable]) },
  ],
  ['DataVolumeError', 'a DataVolume has failed', { disk: disk('Failed') }],
  ['DataVolumeError', 'a DataVolume runs into errors', { disk: disk('CloneScheduled', failing) }],
  [
    'ErrorUnschedulable',
    'no node takes it',
    { instance: instance('Scheduling', [unschedulable]), claim: claim('Pending') },
  ],
  ['Provisioning', 'its disk is being filled', { disk: disk('CloneScheduled'), claim: claim('Pending') }],
  [
    'WaitingForVolumeBinding',
    'its disk waits for a node',
    { instance: instance('Scheduling'), disk: disk('PendingPopulation'), claim: claim('Pending') },
  ],
  [
    'Stopped',
    'its disk waits for a node, and it is not to run',
    { machine: machine('Halted'), disk: disk('PendingPopulation'), claim: claim('Pending') },
  ],
  [
    'ErrImagePull',
    'its launcher’s image does not come',
    { instance: instance('Scheduling', notSynchronized('ErrImagePull')) },
  ],
  [
    'ImagePullBackOff',
    'its launcher’s image is waited for',
    { instance: instance('Scheduling', notSynchronized('ImagePullBackOff')) },
  ],
  ['Starting', 'its instance is being made', { starting: true }],
  ['Starting', 'its instance is on its way', { instance: instance('Scheduled') }],
  ['CrashLoopBackOff', 'a start has failed', { instance: instance('Failed'), failures: 1 }],
  ['Stopped', 'a start has failed, and none is to follow', { machine: machine('Manual'), failures: 1 }],
  ['Stopped', 'there is no instance', {}],
])('%s when %s', (expected, _, row) => {
  const observed: ObservedForPrinting = {
    machine: row.machine ?? machine(),
    instance: row.instance,
    starting: row.starting ?? false,
    startFailure: row.failures ? { consecutiveFailCount: row.failures } : undefined,
    dataVolume: () => row.disk,
    claim: () => row.claim,
    seesDataVolumeError: false,
  };
  expect(printableStatus(observed)).toBe(expected);
});
