import { describe, expect, test } from 'vitest';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { Readiness } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { at, start } from '../../../test/support/builders/images.ts';
import { anInstance } from '../../../test/support/builders/machine-children.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { aMadeMachine, changed, madeIn, reconcile, written } from '../../../test/support/harness/provision-vm.ts';

const readiness = (more: object = { guestAgent: true }) => ({ readiness: Readiness.parse(more) });
const probe = { readinessProbe: { guestAgentPing: {} } };
const runs = [{ phase: 'Running', phaseTransitionTimestamp: at(4) }];

/** A machine whose guest is to answer, as KubeVirt shows it. */
function asked({ ready = false, spec = probe, reason = 'ContainersNotReady', options = {}, more = {} } = {}) {
  const made = aMadeMachine(
    { spec: readiness({ guestAgent: true, ...more }), ...options },
    { machine: { printableStatus: 'Running', ready } },
  );
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', reason: ready ? '' : reason }];
  const status = { phase: 'Running', conditions, phaseTransitionTimestamps: runs };
  return { ...made, instance: anInstance(made.machine, status, spec) };
}

const templateOf = (more?: object) => {
  const found = reconcile({ machine: aVirtualMachine(more ? { spec: readiness(more) } : {}) });
  const { spec } = madeIn(found.actions, KubeVirtMachine) as unknown as {
    spec: { template: { spec: Record<string, unknown> } };
  };
  return spec.template.spec;
};

describe('the probes of a machine', () => {
  const often = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };
  test.each([
    ['its agent', { guestAgent: true }, { guestAgentPing: {}, ...often }, undefined],
    ['a port', { tcp: 22, failureThreshold: 6 }, { tcpSocket: { port: 22 }, ...often, failureThreshold: 6 }, undefined],
    [
      'its agent, or be started again',
      { guestAgent: true, timeout: '1h1m', onFailure: 'Restart' },
      { guestAgentPing: {}, ...often },
      { guestAgentPing: {}, ...often, initialDelaySeconds: 3660 },
    ],
  ])('ask %s', (_, more, readinessProbe, livenessProbe) => {
    const template = templateOf(more);
    expect(template.readinessProbe).toEqual(readinessProbe);
    expect(template.livenessProbe).toEqual(livenessProbe);
  });
  test('are none without readiness', () => {
    expect(templateOf()).not.toHaveProperty('readinessProbe');
    expect(templateOf()).not.toHaveProperty('livenessProbe');
  });
});

describe('a guest that is to answer', () => {
  test('keeps its machine from being Ready until it does, though KubeVirt runs it', () => {
    const found = reconcile(asked());
    expect(found.conditions).toMatchObject({
      MachineReady: 'True Running',
      GuestReady: 'False GuestStarting',
      Ready: 'False GuestStarting',
    });
    expect(reconcile(asked({ ready: true })).conditions).toMatchObject({
      GuestReady: 'True GuestAnswers',
      Ready: 'True Running',
    });
  });
  test('fails it after its timeout, whatever the policy says, and not before', () => {
    const given = asked({ more: { timeout: '20m' } });
    const first = reconcile(given);
    expect(first.actions).toContainEqual(expect.objectContaining({ do: 'requeueAfter', afterMs: 20 * 60_000 }));
    const machine = written(given.machine, first.status);
    const later = (seconds: number) => reconcile({ ...given, machine, nowMs: start + (10 + seconds) * 1000 });
    expect(later(20 * 60 - 1).writes).toEqual([]);
    const last = later(20 * 60);
    expect(last.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('has lasted 20m') });
    expect(last.warnings).toEqual(['GuestStarting']);
    const healed = reconcile({ ...asked({ ready: true }), machine: written(machine, last.status) });
    expect(healed.status).toMatchObject({ phase: 'Ready' });
  });
  test('is reported if it stops answering, and measured for its first answer only', () => {
    const measured = (found: ReturnType<typeof reconcile>) =>
      found.actions.filter((action) => action.do === 'measure').map(({ metric, value }) => [metric, value]);
    const starting = asked();
    const answers = reconcile({
      ...asked({ ready: true }),
      machine: written(starting.machine, reconcile(starting).status),
    });
    expect(measured(answers)).toContainEqual(['ot.machine.guest.ready.duration', 6]);
    const ready = written(starting.machine, answers.status);
    expect(measured(reconcile({ ...asked({ ready: true }), machine: ready, nowMs: start + 20_000 }))).toEqual([]);
    const hangs = reconcile({ ...asked(), machine: ready });
    expect(hangs.conditions).toMatchObject({ GuestReady: 'False GuestNotAnswering', Ready: 'False GuestNotAnswering' });
    expect(hangs.writes).toEqual(['patchStatus VirtualMachine']);
    expect(hangs.status?.message).toMatch(/no longer answers.*virtctl console demo -n lab.*Failed if that lasts 10m/);
    const again = reconcile({ ...asked({ ready: true }), machine: written(ready, hangs.status) });
    expect(again.conditions.Ready).toBe('True Running');
    expect(measured(again)).toEqual([]);
  });
  test('is not yet checked if what runs was started before: KubeVirt alone counts until a restart', () => {
    const found = reconcile(asked({ ready: true, spec: {} as typeof probe }));
    expect(found.conditions).toMatchObject({ GuestReady: 'Unknown GuestNotChecked', Ready: 'True Running' });
  });
  test('is not blamed for what its node does', () => {
    const found = reconcile(asked({ reason: 'NodeNotReady' }));
    expect(found.conditions).toMatchObject({ MachineReady: 'False GuestNotReady', GuestReady: 'False GuestNotReady' });
  });
  test.each(['Paused', 'Migrating'])('keeps its condition while KubeVirt says %s', (printableStatus) => {
    const ready = written(asked().machine, reconcile(asked({ ready: true })).status);
    const made = aMadeMachine({ spec: readiness() }, { machine: { printableStatus } });
    const conditions = [{ type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' }];
    const instance = anInstance(made.machine, { phase: 'Running', conditions }, probe);
    const found = written(ready, reconcile({ ...made, instance, machine: ready }).status);
    expect(found.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'GuestReady', status: 'True', reason: 'GuestAnswers' }),
    );
    expect(found.status?.phase).toBe('Ready');
  });
  test.each(['Paused', 'Migrating'])('that is silent is not Ready because KubeVirt says %s', (printableStatus) => {
    const { machine } = asked();
    const ready = written(machine, reconcile(asked({ ready: true })).status);
    const silent = written(ready, reconcile({ ...asked(), machine: ready }).status);
    const made = aMadeMachine({ spec: readiness() }, { machine: { printableStatus } });
    const instance = anInstance(made.machine, { phase: 'Running', conditions: [] }, probe);
    const found = written(silent, reconcile({ ...made, instance, machine: silent }).status);
    expect(found.status).toMatchObject({ phase: silent.status?.phase, trouble: silent.status?.trouble });
    expect(found.status?.trouble?.reason).toBe('GuestNotAnswering');
  });
  test('that is no longer to answer has no condition, and its machine is Ready at once', () => {
    const given = asked();
    const waiting = { ...given, machine: written(given.machine, reconcile(given).status) };
    const { readiness: _, ...spec } = waiting.machine.spec;
    const found = reconcile({ ...changed(waiting, {}), machine: { ...changed(waiting, {}).machine, spec } });
    expect(found.conditions.Ready).toBe('True Running');
    expect(found.conditions).not.toHaveProperty('GuestReady');
  });
  test('of a machine that does not run says why it does not', () => {
    const made = aMadeMachine({ spec: readiness() }, { machine: { printableStatus: 'Stopping' } });
    expect(reconcile(made).conditions.GuestReady).toBe('False Stopping');
    const halted = aMadeMachine({ spec: { ...readiness(), ignoreOnDeploy: true } });
    expect(reconcile(halted).conditions).toMatchObject({ GuestReady: 'False Halted', Ready: 'True Halted' });
  });
});
