import { describe, expect, test } from 'vitest';
import { freeDevice, refusalOf, serverActions, statusOf } from './server-machine.ts';
import type { Server, VmState } from './state.ts';

const aServer = (of: Partial<Server>) =>
  ({ id: 's', vmState: 'active', taskState: null, launchedMs: 1, ...of }) as Server;

describe('a server is shown', () => {
  test.each<[VmState, string | null, string]>([
    ['building', 'spawning', 'BUILD'],
    ['active', null, 'ACTIVE'],
    ['active', 'powering-off', 'ACTIVE'],
    ['active', 'rebooting', 'REBOOT'],
    ['active', 'rebooting_hard', 'HARD_REBOOT'],
    ['active', 'resize_migrated', 'RESIZE'],
    ['stopped', null, 'SHUTOFF'],
    ['stopped', 'rebooting_hard', 'SHUTOFF'],
    ['stopped', 'resize_prep', 'RESIZE'],
    ['resized', null, 'VERIFY_RESIZE'],
    ['resized', 'resize_reverting', 'REVERT_RESIZE'],
    ['error', 'rebooting_hard', 'ERROR'],
    ['deleted', null, 'DELETED'],
  ])('%s at %s as %s', (vmState, taskState, status) => {
    expect(statusOf({ vmState, taskState })).toBe(status);
  });
});

describe('an action', () => {
  test.each([
    { name: 'starts a stopped server', of: { vmState: 'stopped' as const }, action: serverActions['os-start'] },
    {
      name: 'does not start a running server',
      of: {},
      action: serverActions['os-start'],
      refused: "Cannot 'start' instance s while it is in vm_state active",
    },
    {
      name: 'waits for another to end',
      of: { taskState: 'powering-off' },
      action: serverActions['os-stop'],
      refused: "Cannot 'stop' instance s while it is in task_state powering-off",
    },
    {
      name: 'does not exist for a server that never ran',
      of: { launchedMs: undefined, vmState: 'error' as const },
      action: serverActions['os-start'],
      refused: 'Instance s is not ready',
    },
  ])('$name', ({ of, action, refused }) => {
    expect(refusalOf(aServer(of), action)).toBe(refused);
  });
});

test.each([
  [[], '/dev/vda'],
  [['/dev/vda', '/dev/vdc'], '/dev/vdb'],
])('beside %j comes %s', (devices, free) => {
  expect(freeDevice(devices)).toBe(free);
});
