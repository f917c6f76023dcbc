import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../../shared/policy.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { aVirtualMachine, type MachineOptions } from '../../test/support/builders/machines.ts';
import { aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { isMachineSettled, isWorkspaceSettled } from './settled.ts';

const policy = parsePolicy(undefined);
const elsewhere = parsePolicy({ metadata: {}, data: { imageNamespaces: 'another' } } as never);

const counting = (count: number, by: string[]) =>
  aVMDiskImage({ status: { phase: 'Succeeded', references: { count, by } } });
const few = counting(2, ['lab/a', 'lab/m']);
/** Names its first two, as a real one names its first twenty. */
const crowd = counting(9, ['lab/a', 'lab/m']);

describe('an update of a machine changes nothing in the count', () => {
  const machine = (name: string, options: MachineOptions = {}) => aVirtualMachine({ name, ...options });
  test.each([
    ['the image names it', machine('m'), few, policy, true],
    ['the image names others only', machine('n'), few, policy, false],
    ['the image counts none yet', machine('m'), aVMDiskImage({ status: { phase: 'Queued' } }), policy, false],
    ['a crowd names it', machine('m'), crowd, policy, true],
    ['a crowd cannot name it', machine('z'), crowd, policy, true],
    ['a crowd would name it', machine('b'), crowd, policy, false],
    ['it has no finalizer', machine('m', { finalizers: [] }), few, policy, false],
    ['it is being deleted', machine('m', { deleted: true }), few, policy, false],
    ['there is no image', machine('m'), undefined, policy, true],
    ['the image is not queued yet', machine('m'), aVMDiskImage(), policy, true],
    ['it may not name the image, which does not count it', machine('n'), few, elsewhere, true],
    ['it may not name the image, which counts it', machine('m'), few, elsewhere, false],
    ['it may not name the image, which may count it', machine('z'), crowd, elsewhere, false],
  ] as const)('%s', (_, one, image, by, isSettled) => {
    expect(isMachineSettled(one, image, by)).toBe(isSettled);
  });
});

describe('an update of a workspace changes nothing in the count', () => {
  const wanting = aWorkspace({ name: 'team', spec: { vms: [aMachineOf()] } });
  const wantsNothing = aWorkspace({ name: 'team' });
  const going = aWorkspace({ name: 'team', deleted: true, spec: { vms: [aMachineOf()] } });
  const own = [aVirtualMachine({ namespace: 'ws-team', name: 'vm' })];
  const waited = counting(2, ['lab/a', 'Workspace team']);
  test.each([
    ['it waits, and the image says so', wanting, waited, [], true],
    ['it waits, and the image does not say so', wanting, few, [], false],
    ['it waits, and a crowd cannot say so', wanting, crowd, [], false],
    ['its machine counts for it', wanting, few, own, true],
    ['its machine counts for it in a crowd', wanting, crowd, own, true],
    ['its machine counts for it, and the image does not know', wanting, waited, own, false],
    ['it no longer wants the image, which still says that it waits', wantsNothing, waited, [], false],
    ['it wants nothing, and the image does not name it', wantsNothing, few, [], true],
    ['it is being deleted, and the image does not name it', going, few, [], true],
    ['it is being deleted, and the image still says that it waits', going, waited, [], false],
    ['it is being deleted, and a crowd may count it', going, crowd, [], false],
    ['it is being deleted, and its machine counts for it in a crowd', going, crowd, own, true],
    ['there is no image', wanting, undefined, [], true],
  ] as const)('%s', (_, workspace, image, machines, isSettled) => {
    expect(isWorkspaceSettled(workspace, image, { machines, policy })).toBe(isSettled);
  });
});
