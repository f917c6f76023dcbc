import { afterEach, describe, expect, test } from 'vitest';
import { type Spawned, spawned } from '../../test/support/tools/spawned.ts';
import type { DemoResult } from './demo/report.ts';

const running: Spawned[] = [];
const demo = async (...args: string[]) => {
  const command = await spawned('demo.ts', ...args);
  running.push(command);
  return command;
};
afterEach(async () => {
  for (const command of running.splice(0)) await command.dispose();
});

const minuteMs = 60_000;

describe('npm run demo', { timeout: 2 * minuteMs, concurrent: false }, () => {
  test('ends with 0, tells its result as JSON, and leaves nothing behind', async () => {
    const command = await demo('--json');
    const code = await command.ended;
    const result = JSON.parse(command.stdout()) as DemoResult;
    expect(result.faults).toEqual([]);
    expect([code, result.ok]).toEqual([0, true]);
    expect(result.most.slots).toBeLessThanOrEqual(2);
    const steps = result.images.find(({ name }) => name === 'opnsense-24')?.steps.map(({ phase }) => phase);
    expect(steps?.filter((phase) => phase === 'Retrying')).toHaveLength(2);
    expect(steps?.at(-1)).toBe('Succeeded');
    expect(command.stderr()).toMatch(/^ *\+\d+\.\ds {2}centos-6 +Failed +NotFound$/m);
    const machines = new Map(result.machines?.machines.map((machine) => [machine.name, machine]));
    expect([...machines.keys()]).toEqual(['web-1', 'web-2', 'odd-1', 'db-1', 'db-2']);
    expect(machines.get('web-1')).toMatchObject({ phase: 'Ready', hasWaited: true, isGone: false });
    expect(machines.get('odd-1')?.warnings).toEqual([
      { reason: 'TemplateMismatch', message: expect.stringMatching(/ url \(.*diskSize \(2Gi, not 4Gi\)/) },
    ]);
    expect(result.machines?.made).toEqual([
      { name: 'nixos-25.05', times: 1, requestedBy: expect.stringMatching(/^web-[12]$/) },
    ]);
    expect(result.machines?.deletion.held.map(({ by }) => by)).toEqual([['lab/db-1', 'lab/db-2'], ['lab/db-2']]);
    expect(command.stderr()).toMatch(/ {2}\$ kubectl delete vmdi debian-12 -n vmdi-farm$/m);
    expect(command.stderr()).toMatch(/ {2}debian-12 +Gone$/m);
    const lab = result.workspace;
    expect(lab?.parts.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['VMDiskImage', 'Network', 'Volume', 'VirtualMachine', 'ContainerCluster']),
    );
    expect(lab?.healing).toMatchObject({ name: 'demo-app', backAfterSeconds: expect.any(Number) });
    expect(lab?.deletion.goneAfterSeconds).toEqual(expect.any(Number));
    expect(command.stderr()).toMatch(/ {2}\$ kubectl delete otws demo-workspace-1$/m);
    expect(command.stderr()).toMatch(/ {2}demo-workspace-1 +Gone$/m);
    expect(await command.leftOver()).toEqual([]);
  });
  test.each([
    ['first', /Syncing/],
    ['second', /web-1 +Provisioning/],
    ['third', /demo-workspace-1 +Provisioning/],
  ])('is stopped by Ctrl-C in its %s act with 130, and leaves nothing behind', async (_, sign) => {
    const command = await demo();
    await command.until(sign);
    command.child.kill('SIGINT');
    expect(await command.ended).toBe(130);
    expect(command.stderr()).toMatch(/demo: stopped; all that was brought up is taken down\n$/);
    expect(await command.leftOver()).toEqual([]);
  });
  test('says with --help what it does', async () => {
    const command = await demo('--help');
    expect(await command.ended).toBe(0);
    expect(command.stdout()).toMatch(/--json[\s\S]*Examples/);
  });
  test('refuses an option that there is not, in one line', async () => {
    const command = await demo('--jsno');
    expect(await command.ended).toBe(2);
    expect(command.stderr()).toMatch(/^demo: Unknown option '--jsno'; expected --json, --openstack, --help .*\n$/);
  });
});
