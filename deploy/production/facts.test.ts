import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { warn } from '../../functions/compose-workspace/lifetime.ts';
import { updateStatus as updateWorkspaceStatus, workspaceFacts } from '../../functions/compose-workspace/status.ts';
import { decide as followSync } from '../../functions/follow-sync/decide.ts';
import { publishReady } from '../../functions/follow-sync/status.ts';
import { machineFacts, updateStatus } from '../../functions/provision-vm/status.ts';
import { decide as prune } from '../../functions/prune/decide.ts';
import { publishUnsettled } from '../../functions/start-sync/unsettled.ts';
import type { Action } from '../../shared/actions.ts';
import { facts, imagePublished, schemaIdOf } from '../../shared/events.ts';
import { transition } from '../../shared/images/status.ts';
import { phases } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { isSo } from '../../shared/kubernetes/status.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { aWorkspace } from '../../test/support/builders/workspaces.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const said = { reason: 'Ready', message: 'It is so.' } as const;

const told = (actions: readonly Action[]) => actions.filter((action) => action.do === 'publish');

const noFields = {
  rootDisk: undefined,
  ipAddress: undefined,
  addresses: undefined,
  fixedAddresses: undefined,
  nodeName: undefined,
  trouble: undefined,
};

const ofImages = told([
  ...phases.flatMap((to) => transition(aVMDiskImage(), { to, ...said, nowMs })),
  publishReady(aVMDiskImage({ status: { phase: 'Failed' } }), 1, { ...said, nowMs }),
]);
const ofMachines = (['Provisioning', 'Failed', 'Ready'] as const).flatMap((phase) =>
  told(updateStatus(aVirtualMachine(), { phase, ...said, conditions: [], fields: noFields }, nowMs)),
);
const deleted = { nowMs, policy: parsePolicy(undefined), image: aVMDiskImage({ deleted: true }) };
const nothing = { dataVolumes: [], pods: [], snapshots: [], isSnapshotGone: false, refusals: new Map() };
const ofUnsettled = told(publishUnsettled({ nowMs, unsettled: [deleted.image] }));
const ofDeleting = told(followSync({ ...deleted, ...nothing, isAudit: false, isNamed: true }));
const left = { dataVolumes: [], claims: [], snapshots: [], holdsSlot: false };
const ofDeletion = told(prune({ ...deleted, machines: [], workspaces: [], left }));
const ofWorkspaces = (['Provisioning', 'Failed', 'Ready'] as const).flatMap((phase) =>
  told(updateWorkspaceStatus(aWorkspace(), { phase, ...said, conditions: [], fields: {} }, nowMs)),
);
const warned = [
  isSo('WillBeLate', 'WillBeLate', 'It is so.'),
  isSo('HibernatesSoon', 'HibernatesSoon', 'It is so.'),
  isSo('ExpiresSoon', 'ExpiresSoon', 'It is so.'),
];
const ofLifetimes = told(
  warn(
    aWorkspace({ spec: { hibernateAfter: '1h', expiresAfter: '8h' }, status: { readyAt: '2026-01-01T00:00:00Z' } }),
    warned,
    nowMs,
  ),
);
const all = [...ofImages, ...ofMachines, ...ofUnsettled, ...ofDeleting, ...ofDeletion, ...ofWorkspaces, ...ofLifetimes];

test('every published fact has a schema, and every schema belongs to a published fact', () => {
  expect(all.map(({ type }) => type).sort()).toEqual(Object.keys(facts).sort());
});

test.each(all)('$type fits its schema, field for field', ({ type, data }) => {
  expect(facts[type as keyof typeof facts].parse(JSON.parse(JSON.stringify(data)))).toEqual(data);
});

test.each([...Object.keys(facts), imagePublished])('the JSON Schema of %s says which it is, and what of', (type) => {
  const schema = JSON.parse(readFileSync(new URL(`events/${type}.json`, import.meta.url), 'utf8'));
  expect(schema).toMatchObject({ $id: schemaIdOf(type), title: type, description: expect.stringMatching(/.+\.$/) });
  expect(new URL(schema.$id).protocol).toBe('urn:');
});

test.each(['Ready', 'Failed'] as const)(
  'the event of a machine or workspace that is %s is rebuilt from its status',
  (phase) => {
    const report = { phase, ...said, conditions: [] };
    const after = <T extends { status?: unknown }>(object: T, actions: readonly Action[]): T => {
      const status = actions.flatMap((action) => (action.do === 'patchStatus' ? [action.status] : []));
      return { ...object, status: Object.assign({}, ...status) };
    };
    const machine = updateStatus(aVirtualMachine(), { ...report, fields: noFields }, nowMs);
    const workspace = updateWorkspaceStatus(aWorkspace(), { ...report, fields: {} }, nowMs);
    const rebuilt = [
      ...machineFacts.of(after(aVirtualMachine(), machine)),
      ...workspaceFacts.of(after(aWorkspace(), workspace)),
    ];
    const withoutTrace = (actions: readonly Action[]) =>
      told(actions).map(({ type, id, data }) => ({ type, id, data }));
    expect(withoutTrace(rebuilt)).toEqual(withoutTrace([...machine, ...workspace]));
  },
);
