import { describe, expect, test } from 'vitest';
import { aKupenStackMachine, aServer } from '../../test/support/builders/openstack.ts';
import { isBusy, isIdle, neverRan, phaseOf, troubleOf } from './state.ts';

const server = (status: string, task: string | null = null, more: Parameters<typeof aServer>[1] = {}) =>
  aServer(aKupenStackMachine(), { status, 'OS-EXT-STS:task_state': task, ...more });

describe('a server', () => {
  test.each<[string, string | null, string, 'idle' | 'busy' | 'neither']>([
    ['ACTIVE', null, 'Running', 'idle'],
    ['SHUTOFF', null, 'Stopped', 'idle'],
    ['BUILD', 'scheduling', 'Creating', 'busy'],
    ['BUILD', null, 'Creating', 'busy'],
    ['ACTIVE', 'powering-off', 'Stopping', 'busy'],
    ['SHUTOFF', 'powering-on', 'Starting', 'busy'],
    ['REBOOT', 'reboot_started', 'Restarting', 'busy'],
    ['HARD_REBOOT', 'rebooting_hard', 'Restarting', 'busy'],
    ['RESIZE', 'resize_prep', 'Resizing', 'busy'],
    ['VERIFY_RESIZE', null, 'Resizing', 'busy'],
    ['MIGRATING', null, 'Resizing', 'busy'],
    ['ACTIVE', 'deleting', 'Terminating', 'busy'],
    ['ERROR', 'deleting', 'Terminating', 'busy'],
    ['DELETED', null, 'Terminating', 'busy'],
    ['ERROR', null, 'Failed', 'neither'],
    ['PAUSED', null, 'Unknown', 'neither'],
    ['RESCUE', null, 'Unknown', 'neither'],
  ])('that is %s with task %s is %s and %s', (status, task, phase, going) => {
    const one = server(status, task);
    expect(phaseOf(one)).toBe(phase);
    expect({ isIdle: isIdle(one), isBusy: isBusy(one) }).toEqual({
      isIdle: going === 'idle',
      isBusy: going === 'busy',
    });
  });
  test.each([
    ['in ERROR that was never launched', server('ERROR', null, { 'OS-SRV-USG:launched_at': null }), true],
    ['in ERROR that ran once', server('ERROR'), false],
    ['that is being built', server('BUILD', null, { 'OS-SRV-USG:launched_at': null }), false],
  ])('%s never ran: %s', (_, one, never) => {
    expect(neverRan(one)).toBe(never);
  });
  test.each([
    ['runs on a host that is up', server('ACTIVE'), undefined],
    ['runs on a host of which Nova says nothing', aServer(aKupenStackMachine(), { host_status: undefined }), undefined],
    ['is on a host in maintenance', server('ACTIVE', null, { host_status: 'MAINTENANCE' }), undefined],
    ['is on a host that is down', server('ACTIVE', null, { host_status: 'DOWN' }), 'HostDown'],
    ['is in ERROR', server('ERROR', null, { fault: { message: 'disk full' } }), 'ServerError'],
  ])('that %s is in trouble: %s', (_, one, reason) => {
    expect(troubleOf(one)?.reason).toBe(reason);
  });
  test('in ERROR says what Nova says', () => {
    expect(troubleOf(server('ERROR', null, { fault: { message: 'disk full' } }))?.message).toContain('disk full');
  });
});
