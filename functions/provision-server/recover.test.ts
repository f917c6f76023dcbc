import { describe, expect, test } from 'vitest';
import type { KupenStackMachineStatus } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { deleteServer } from '../../shared/kinds/openstack/server.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { at, start } from '../../test/support/builders/images.ts';
import { aKupenStackMachine, refusing } from '../../test/support/builders/openstack.ts';
import { freeDisk, type Given, reconcile, running } from '../../test/support/harness/provision-server.ts';

const moment = (seconds: number) => toTime(start + seconds * 1000);
const inError = { status: 'ERROR', fault: { message: 'No valid host was found.' } };
const failed = { ...inError, 'OS-SRV-USG:launched_at': null };
const known = (status: Partial<KupenStackMachineStatus>) =>
  aKupenStackMachine({ status: { id: 'id-server', ...status } });

describe('a boot that failed', () => {
  test('is written down, then its server goes', () => {
    const found = reconcile(running({ server: failed }));
    expect(found.done).toEqual([
      'patchStatus',
      'recordEvent Warning BootFailed',
      'deleteServer id-server',
      'requeueAfter 2000',
    ]);
    expect(found.status).toMatchObject({
      phase: 'Failed',
      attempts: 1,
      failed: 'id-server',
      nextAttemptAt: moment(310),
    });
    expect(found.status.message).toBe(
      `The server could not be booted: No valid host was found. It is tried again at ${moment(310)}.`,
    );
  });
  test("is reported in sentences, whatever follows Nova's full stop", () => {
    const server = { ...failed, fault: { message: 'No valid host was found. ' } };
    expect(reconcile(running({ server })).status.message).toMatch(/was found\. It is tried/);
  });
  test('is counted once, however long its server is seen', () => {
    const machine = known({ attempts: 1, failed: 'id-server', nextAttemptAt: moment(310) });
    expect(reconcile(running({ machine, server: failed })).done).toEqual([
      'deleteServer id-server',
      'requeueAfter 2000',
    ]);
  });
  test('waits longer each time, up to the longest', () => {
    const next = (attempts: number) =>
      reconcile(running({ machine: known({ attempts, failed: 'another' }), server: failed })).status.nextAttemptAt;
    expect([0, 1, 3, 9].map(next)).toEqual([310, 610, 2410, 3610].map(moment));
  });
  test.each<[string, Partial<KupenStackMachineStatus>, string[]]>([
    [
      'is not repeated before its time, and that is looked at in half a minute',
      { nextAttemptAt: moment(310) },
      ['requeueAfter 30000'],
    ],
    ['is looked at when it is due where that is sooner', { nextAttemptAt: moment(13) }, ['requeueAfter 3000']],
    ['is repeated then', { nextAttemptAt: moment(10) }, ['createServer']],
  ])('%s', (_, status, done) => {
    const machine = aKupenStackMachine({ status: { phase: 'Failed', attempts: 1, failed: 'x', ...status } });
    expect(
      reconcile({ machine }).done.filter((one) => one !== 'patchStatus' && !one.startsWith('recordEvent')),
    ).toEqual(done);
  });
  test('is repeated at once for a spec that was changed since: that may be what mends it', () => {
    const status = { attempts: 5, nextAttemptAt: moment(310) };
    const once = aKupenStackMachine({ generation: 2, status: { ...status, observedGeneration: 1 } });
    expect(reconcile({ machine: once }).done).toEqual(['createServer']);
    const machine = aKupenStackMachine({ generation: 2, status: { ...status, observedGeneration: 2 } });
    expect(reconcile({ machine }).done).not.toContain('createServer');
  });
  test('is reported for as long as it waits', () => {
    const machine = aKupenStackMachine({
      status: {
        phase: 'Failed',
        failure: 'No valid host.',
        message: `The server could not be booted: No valid host. It is tried again at ${moment(60)}.`,
        nextAttemptAt: moment(60),
      },
    });
    const found = reconcile({ machine });
    expect(found.conditions).toMatchObject({ ServerReady: 'False BootFailed', Ready: 'False BootFailed' });
    expect(found.status).not.toHaveProperty('message');
  });
  test('is reported also after OpenStack was unreachable in the meantime', () => {
    const boot = reconcile(running({ server: failed })).status as Partial<KupenStackMachineStatus>;
    const lost = reconcile({ machine: known(boot), fault: 'Unreachable' }).status as Partial<KupenStackMachineStatus>;
    const back = reconcile({ machine: known({ ...boot, ...lost }) }).status;
    expect(back).toMatchObject({ phase: 'Failed' });
    expect({ ...boot, ...lost, ...back }.message).toMatch(/booted/);
  });
  test('is forgotten once a server runs', () => {
    const machine = known({ attempts: 2, failed: 'x', nextAttemptAt: moment(0) });
    expect(reconcile(running({ machine })).status).toMatchObject({ attempts: null, failed: null, nextAttemptAt: null });
  });
  test('is not forgotten while the next one is built', () => {
    const machine = known({ attempts: 2, failed: 'x', nextAttemptAt: moment(0) });
    const { status } = reconcile(
      running({ machine, server: { status: 'BUILD', 'OS-EXT-STS:task_state': 'spawning' } }),
    );
    for (const field of ['attempts', 'failed', 'nextAttemptAt']) expect(status).not.toHaveProperty(field);
  });
  test('whose server Nova does not delete is looked at again', () => {
    const machine = known({ attempts: 1, failed: 'id-server' });
    const refusals = refusing(machine, [deleteServer('id-server'), 'Conflict: locked']);
    expect(reconcile(running({ machine, server: failed, refusals })).done).toEqual(['requeueAfter 2000']);
  });
  test('whose server Nova is deleting is not deleted again', () => {
    const machine = known({ attempts: 1, failed: 'id-server' });
    const server = { ...failed, 'OS-EXT-STS:task_state': 'deleting' };
    expect(reconcile(running({ machine, server })).requests).toEqual([]);
  });
});

describe('a server that ran and is in trouble', () => {
  test.each<[string, Given, string[]]>([
    [
      'in ERROR is waited for',
      running({ server: inError }),
      ['patchStatus', 'recordEvent Warning ServerError', 'requeueAfter 30000'],
    ],
    [
      'is looked at when its time is up',
      running({ machine: known({ failedSince: moment(-288) }), server: inError }),
      ['patchStatus', 'recordEvent Warning ServerError', 'requeueAfter 2000'],
    ],
    [
      'for too long is given up',
      running({ machine: known({ phase: 'Failed', failedSince: moment(-290) }), server: inError }),
      ['patchStatus', 'recordEvent Warning ServerError', 'deleteServer id-server', 'requeueAfter 2000'],
    ],
    [
      'for longer than the policy says is given up',
      running({ machine: known({ failedSince: moment(8) }), server: inError, policy: { serverRecoverAfter: '1s' } }),
      ['patchStatus', 'recordEvent Warning ServerError', 'deleteServer id-server', 'requeueAfter 2000'],
    ],
  ])('%s', (_, given, done) => {
    expect(reconcile(given).done).toEqual(done);
  });
  test('is left alone where the policy does not say for how long in words that can be read', () => {
    const machine = known({ failedSince: at(-100_000) });
    const found = reconcile(running({ machine, server: inError, policy: { serverRecoverAfter: '2 hours' } }));
    expect(found.requests).toEqual([]);
    expect(found.status).toMatchObject({ message: expect.stringContaining('serverRecoverAfter cannot be read') });
  });
  test('restarts its time if OpenStack was unreachable: hosts come back after their API', () => {
    const machine = known({ phase: 'Failed', failedSince: at(-100_000) });
    expect(reconcile({ machine, fault: 'Unreachable' }).status).toMatchObject({ failedSince: null });
  });
  test('says since when, and what will be done', () => {
    const found = reconcile(running({ server: inError }));
    expect(found.status).toMatchObject({
      phase: 'Failed',
      failedSince: moment(10),
      message: expect.stringContaining('lasts for 5m'),
    });
    expect(found.conditions).toMatchObject({ ServerReady: 'False ServerError', Ready: 'False ServerError' });
  });
  test('is asked nothing else meanwhile', () => {
    const machine = aKupenStackMachine({ spec: { running: false, vcpu: 2 } });
    expect(reconcile(running({ machine, server: { host_status: 'DOWN' } })).requests).toEqual([]);
  });
  test('that mends by itself is as before', () => {
    const found = reconcile(running({ machine: known({ failedSince: at(0) }) }));
    expect(found.status).toMatchObject({ phase: 'Running', failedSince: null });
  });
  test('is created again from the same volumes once it was deleted', () => {
    const machine = known({ failedSince: at(0), restartCount: 2 });
    expect(reconcile({ machine }).requests).toMatchObject([{ operation: 'createServer' }]);
  });
  test('that Nova is deleting is not deleted again', () => {
    const machine = known({ failedSince: moment(-290) });
    expect(
      reconcile(running({ machine, server: { ...inError, 'OS-EXT-STS:task_state': 'deleting' } })).requests,
    ).toEqual([]);
  });
});

describe('a server on a host that is unreachable', () => {
  const longAgo = { failedSince: at(-100_000) };
  const fenced = { unreachableHostRecoverAfter: '10m' };
  const since = (status: Partial<KupenStackMachineStatus>, reason = 'HostDown') =>
    known({
      ...status,
      conditions: [{ type: 'ServerReady', status: 'False', reason, message: '', lastTransitionTime: moment(0) }],
    });
  test.each([
    ['that is down', { host_status: 'DOWN' }, 'HostDown', 'Host host-1 is down.'],
    ['that Nova cannot say anything of', { host_status: 'UNKNOWN' }, 'HostUnknown', 'Nova does not know'],
    ['in ERROR', { ...inError, host_status: 'DOWN' }, 'HostDown', 'Host host-1 is down.'],
    ['whose first boot failed', { ...failed, host_status: 'DOWN' }, 'HostDown', 'Host host-1 is down.'],
  ])('%s is left alone, however long, and the condition says what to do', (_, server, reason, words) => {
    const found = reconcile(running({ machine: since(longAgo, reason), server }));
    expect(found.requests).toEqual([]);
    expect(found.conditions).toMatchObject({ ServerReady: `False ${reason}`, Ready: `False ${reason}` });
    expect(found.status).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(
        new RegExp(
          `^${words}.* left alone.*[Ff]ence the host and set the policy's unreachableHostRecoverAfter, or delete`,
        ),
      ),
    });
  });
  test('is given up after the time that the policy sets for fenced hosts', () => {
    const down = { host_status: 'DOWN' };
    const lasting = (seconds: number) =>
      reconcile(
        running({
          machine: since({ phase: 'Failed', failedSince: moment(10 - seconds) }),
          server: down,
          policy: fenced,
        }),
      );
    expect(lasting(599).requests).toEqual([]);
    expect(lasting(599).status).toMatchObject({ message: expect.stringContaining('lasts for 10m') });
    expect(lasting(600).done).toContain('deleteServer id-server');
  });
  test('that was in ERROR before is given that time from when its host is unreachable', () => {
    const machine = since(longAgo, 'ServerError');
    const found = reconcile(running({ machine, server: { ...inError, host_status: 'DOWN' }, policy: fenced }));
    expect(found.requests).toEqual([]);
    expect(found.status).toMatchObject({ failedSince: moment(10) });
  });
  test('is left alone if that time cannot be read', () => {
    const policy = { unreachableHostRecoverAfter: 'soon' };
    const found = reconcile(running({ machine: since(longAgo), server: { host_status: 'DOWN' }, policy }));
    expect(found.requests).toEqual([]);
    expect(found.status).toMatchObject({
      message: expect.stringContaining('unreachableHostRecoverAfter cannot be read'),
    });
  });
});

describe('restarts', () => {
  const actions = ['start', 'reboot', 'stop', 'create', 'resize', 'start'].map((action) => ({ action }));
  test('are what Nova lists of starts and reboots', () => {
    const { status } = reconcile(running({ actions, server: { updated: at(-60) } }));
    expect(status).toMatchObject({ restartCount: 3, countedAt: at(-60) });
  });
  test('are counted once more where the server has just changed', () => {
    const { status } = reconcile(running({ actions, server: { updated: at(9) } }));
    expect(status).toMatchObject({ restartCount: 3 });
    expect(status.countedAt ?? undefined).toBeUndefined();
  });
  test('are as they were where the server has not changed', () => {
    const { status } = reconcile(running({ machine: known({ restartCount: 4, countedAt: at(0) }) }));
    expect(status).not.toHaveProperty('restartCount');
  });
  test('continue with the next server, before and after it exists', () => {
    const before = known({ restartCount: 4, countedAt: at(0) });
    const gone = reconcile({ machine: before, disks: [{ ...freeDisk, status: 'detaching' }] });
    expect(gone.status).toMatchObject({ id: null, formerRestarts: 4, countedAt: null });
    const without = aKupenStackMachine({ status: { restartCount: 4, formerRestarts: 4 } });
    for (const machine of [before, without]) {
      const next = reconcile(running({ machine, server: { id: 'id-next' }, actions }));
      expect(next.status).toMatchObject({ id: 'id-next', restartCount: 7 });
    }
  });
});
