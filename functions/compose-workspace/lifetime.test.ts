import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { Workspace, type WorkspaceStatus } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { allowedSources, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aClusterOf, aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { decide } from './decide.ts';
import { nothingInside, type Observed } from './observed.ts';
import { workspaceFacts } from './status.ts';

const spec = { vms: [aMachineOf()], containerClusters: [aClusterOf()] };
const hour = 3600;

/** A workspace that was created at `start`, with these annotations. */
const lab = (more: Partial<Workspace['spec']> = {}, annotations = {}, status?: WorkspaceStatus): Workspace => {
  const workspace = aWorkspace({ spec: { ...spec, ...more }, ...(status ? { status } : {}) });
  return { ...workspace, metadata: { ...workspace.metadata, annotations } };
};

/** What a reconcile sees that many seconds later, of the objects that exist by then. */
const seen = (workspace: Workspace, seconds: number, found: readonly KubernetesObject[] = []): Observed => {
  const of = <T extends KubernetesObject>({ kind }: Resource<T>) => found.filter((one) => one.kind === kind) as T[];
  return {
    nowMs: start + seconds * 1000,
    policy: parsePolicy({ data: { allowedSources } }),
    refusals: new Map(),
    workspace,
    namespace: of(Namespace)[0],
    roleBinding: of(RoleBinding)[0],
    inside: {
      ...nothingInside,
      networkPolicies: of(NetworkPolicy),
      machines: of(VirtualMachine),
      deployments: of(Deployment),
    },
    outside: { isServed: true, vpc: undefined, subnets: [] },
    images: new Map([['vmdi-farm/ubuntu', aVMDiskImage({ status: { phase: 'Succeeded' } })]]),
    imageNamespaces: new Map(),
  };
};

/** The objects after these actions, as the API server and their own controllers have them a moment later. */
function afterwards(actions: readonly Action[], before: readonly KubernetesObject[]): KubernetesObject[] {
  const written = actions.flatMap((action) => {
    if (action.do !== 'create' && action.do !== 'replace') return [];
    const { resource, object } = action;
    const { metadata, ...fields } = object as typeof object & { spec?: { halted?: boolean; replicas?: number } };
    const isUp = resource.kind === 'Deployment' ? fields.spec?.replicas : Number(!fields.spec?.halted);
    const reason = isUp ? 'Running' : 'Halted';
    const ready = { type: 'Ready', status: 'True', reason, message: '', lastTransitionTime: at(0) };
    const status =
      resource.kind === 'Deployment'
        ? { observedGeneration: 2, replicas: isUp, updatedReplicas: isUp, availableReplicas: isUp, conditions: [] }
        : { phase: 'Ready', observedGeneration: 2, conditions: [ready] };
    const known = { uid: `uid-${metadata.name}`, resourceVersion: '5', generation: 2, creationTimestamp: at(-hour) };
    return [resource.parse({ ...fields, metadata: { ...metadata, ...known }, status })];
  });
  const names = new Set(written.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  return [...before.filter(({ kind, metadata }) => !names.has(`${kind} ${metadata.name}`)), ...written];
}

/** The workspace with the status that these actions write. */
function withStatus(workspace: Workspace, actions: readonly Action[]): Workspace {
  const written = actions.flatMap((action) => (action.do === 'patchStatus' ? [action.status] : []));
  const status = Object.entries(Object.assign({}, workspace.status, ...written)).filter(([, value]) => value !== null);
  return Workspace.parse({ ...workspace, status: Object.fromEntries(status) });
}

/** Reconciles until nothing is written. */
function settled(workspace: Workspace, seconds: number, found: readonly KubernetesObject[] = []) {
  const actions: Action[] = [];
  let [next, objects] = [workspace, [...found]];
  for (let tries = 0; tries < 8; tries++) {
    const now = decide(seen(next, seconds, objects));
    actions.push(...now);
    [next, objects] = [withStatus(next, now), afterwards(now, objects)];
    if (!now.some((action) => 'resource' in action)) return { workspace: next, objects, actions };
  }
  throw new Error('expected a state without writes, found none in eight reconciles');
}

const machineIn = (objects: readonly KubernetesObject[]) =>
  objects.find(({ kind }) => kind === 'VirtualMachine') as VirtualMachine | undefined;
const replicasIn = (objects: readonly KubernetesObject[]) =>
  (objects.find(({ kind }) => kind === 'Deployment') as Deployment | undefined)?.spec?.replicas;
const events = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.do === 'recordEvent' ? [action.reason] : []));
const facts = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.do === 'publish' ? [action.type.split('.')[3]] : []));
const deletes = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.do === 'delete' ? [`${action.resource.kind} ${action.unchanged}`] : []));

describe('hibernation', () => {
  const awake = settled(lab(), 0);
  const annotated = (annotations: Record<string, string>) => ({
    ...awake.workspace,
    metadata: { ...awake.workspace.metadata, annotations },
  });
  const asleep = settled(annotated({ 'pelotech.ot/hibernate': 'true' }), 60, awake.objects);
  test('by hand stops machines and containers, deletes nothing, and says so', () => {
    expect(awake.workspace.status?.phase).toBe('Ready');
    expect(machineIn(asleep.objects)?.spec.halted).toBe(true);
    expect(replicasIn(asleep.objects)).toBe(0);
    expect(deletes(asleep.actions)).toEqual([]);
    expect(asleep.workspace.status?.phase).toBe('Hibernated');
    const types = asleep.workspace.status?.conditions?.map(({ type, status }) => `${type} ${status}`);
    expect(types).toContain('Ready False');
    expect(types).not.toContain('Reconciling True');
    expect(asleep.workspace.status?.message).toContain(
      'To wake it: kubectl annotate otws lab pelotech.ot/hibernate- pelotech.ot/awake-since=$(date -u +%FT%TZ) --overwrite',
    );
  });
  test('waking starts what ran, and the workspace is Ready again', () => {
    const woken = settled({ ...asleep.workspace, metadata: lab().metadata }, 120, asleep.objects);
    expect(machineIn(woken.objects)?.spec.halted).toBeUndefined();
    expect(replicasIn(woken.objects)).toBe(1);
    expect(woken.workspace.status?.phase).toBe('Ready');
  });
  test('waking a workspace of machines alone does not call it Ready while they are stopped', () => {
    const machinesOnly = { containerClusters: [] };
    const ready = settled(lab(machinesOnly), 0);
    const stopped = { ...ready.workspace, metadata: lab({}, { 'pelotech.ot/hibernate': 'true' }).metadata };
    const sleeping = settled(stopped, 60, ready.objects);
    expect(sleeping.workspace.status?.phase).toBe('Hibernated');
    const first = decide(seen({ ...sleeping.workspace, metadata: lab().metadata }, 120, sleeping.objects));
    expect(withStatus(sleeping.workspace, first).status).toMatchObject({ phase: 'Provisioning' });
    expect(facts(first)).toEqual([]);
  });
  test('nothing that would run is made meanwhile', () => {
    const fresh = settled(lab({}, { 'pelotech.ot/hibernate': 'true' }), 0);
    expect([machineIn(fresh.objects), replicasIn(fresh.objects)]).toEqual([undefined, undefined]);
    expect(fresh.workspace.status?.phase).toBe('Hibernated');
  });
  test('a machine that still runs is what is waited for', () => {
    const [first] = [decide(seen(annotated({ 'pelotech.ot/hibernate': 'true' }), 60, awake.objects))];
    const status = withStatus(awake.workspace, first).status;
    expect(status).toMatchObject({ phase: 'Provisioning', message: expect.stringContaining('VirtualMachine vm') });
    expect(conditionOf(status?.conditions, 'Ready')?.reason).toBe('Hibernating');
  });
  test('hibernateAfter counts from the first time it was Ready, or since it was woken', () => {
    const asked = settled(lab({ hibernateAfter: '4h' }), 0);
    expect(asked.workspace.status?.hibernatesAt).toBe('2026-01-01T04:00:00Z');
    const before = settled(asked.workspace, 4 * hour - 1, asked.objects);
    expect(before.workspace.status?.phase).toBe('Ready');
    const slept = settled(before.workspace, 4 * hour, before.objects);
    expect(slept.workspace.status).toMatchObject({ phase: 'Hibernated' });
    expect(slept.workspace.status?.nextAt).toBeUndefined();
    const annotations = { 'pelotech.ot/awake-since': '2026-01-01T09:00:00Z' };
    const woken = settled(
      { ...slept.workspace, metadata: { ...slept.workspace.metadata, annotations } },
      9 * hour,
      slept.objects,
    );
    expect(woken.workspace.status).toMatchObject({ phase: 'Ready', hibernatesAt: '2026-01-01T13:00:00Z' });
  });
});

describe('expiry', () => {
  const { workspace, objects } = settled(lab({ expiresAfter: '8h' }), 0);
  const extended = (extend: string) => ({
    ...workspace,
    metadata: { ...workspace.metadata, annotations: { 'pelotech.ot/extend': extend } },
  });
  test('is warned of one hour before, once, by an Event and a domain event that its status can rebuild', () => {
    expect(workspace.status).toMatchObject({ expiresAt: '2026-01-01T08:00:00Z', nextAt: '2026-01-01T07:00:00Z' });
    expect(events(decide(seen(workspace, 7 * hour - 1, objects)))).toEqual([]);
    const warned = settled(workspace, 7 * hour, objects);
    expect(events(warned.actions)).toEqual(['ExpiresSoon']);
    expect(facts(warned.actions)).toEqual(['expiring']);
    expect(warned.workspace.status?.nextAt).toBe('2026-01-01T08:00:00Z');
    const told = warned.actions.filter((action) => action.do === 'publish');
    expect(workspaceFacts.of(warned.workspace).filter(({ type }) => type.includes('expiring'))).toMatchObject(
      told.map(({ id, data, type }) => ({ id, data, type })),
    );
    const later = settled(warned.workspace, 7 * hour + 600, warned.objects);
    expect([events(later.actions), facts(later.actions)]).toEqual([[], []]);
  });
  test('is warned of with the command that adds to what was added before', () => {
    const messageOf = (one: Workspace, seconds: number) =>
      conditionOf(withStatus(one, decide(seen(one, seconds, objects))).status?.conditions, 'ExpiresSoon')?.message;
    expect(messageOf(workspace, 7 * hour)).toMatch(/kubectl annotate otws lab pelotech\.ot\/extend=2h --overwrite$/);
    expect(messageOf(extended('2h30m'), 10 * hour)).toContain('pelotech.ot/extend=4h30m ');
  });
  test('is never announced for later than it is', () => {
    const { workspace: odd, objects: parts } = settled(lab({ expiresAfter: '7h59m30s' }), 0);
    const { conditions } = settled(odd, 7 * hour, parts).workspace.status ?? {};
    expect(conditionOf(conditions, 'ExpiresSoon')?.message).toContain(' 07:59 UTC');
  });
  test('deletes the workspace as it was observed, and nothing else', () => {
    const due = decide(seen(workspace, 8 * hour, objects));
    expect(deletes(due)).toEqual(['Workspace true']);
    expect(events(due)).toEqual(['Expired']);
    expect(due).toHaveLength(2);
  });
  test('a time that was reached while no function ran counts, too', () => {
    expect(deletes(decide(seen(workspace, 800 * hour, objects)))).toEqual(['Workspace true']);
  });
  test.each([
    ['is put off by an extension, which adds to it', extended('2h30m'), '2026-01-01T10:30:00Z'],
    ['an extension that does not parse counts for nothing', extended('2 hours'), '2026-01-01T08:00:00Z'],
    [
      'schedule.endAt ends it before',
      lab({ expiresAfter: '8h', schedule: { endAt: '2026-01-01T06:00:00Z' } }),
      '2026-01-01T06:00:00Z',
    ],
    [
      'counts from schedule.startAt',
      lab({ expiresAfter: '8h', schedule: { startAt: '2026-01-02T09:00:00Z' } }),
      '2026-01-02T17:00:00Z',
    ],
    [
      'has a last year',
      lab({ expiresAfter: '999999h999999h', schedule: { startAt: '9999-12-30T00:00:00Z' } }),
      '9999-12-31T23:59:59Z',
    ],
  ])('%s', (_, one, expiresAt) => {
    expect(withStatus(one, decide(seen(one, 0, objects))).status?.expiresAt).toBe(expiresAt);
  });
  test('an annotation that does not parse is reported', () => {
    expect(events(decide(seen(extended('2 hours'), 0, objects)))).toContain('AnnotationInvalid');
  });
  test('a workspace that ended before it was created is a fault, and is not deleted', () => {
    const old = decide(seen(lab({ schedule: { endAt: '2025-01-01T06:00:00Z' } }), 0));
    expect(deletes(old)).toEqual([]);
    expect(withStatus(lab(), old).status).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('schedule.endAt: expected a time after 2026-01-01T00:00:00Z'),
    });
  });
  test('an invalid spec keeps no workspace alive', () => {
    const broken = lab({
      expiresAfter: '8h',
      networks: [
        { name: 'a', cidr: '10.0.0.0/24' },
        { name: 'a', cidr: '10.0.0.0/24' },
      ],
    });
    expect(withStatus(broken, decide(seen(broken, 0))).status).toMatchObject({
      phase: 'Failed',
      nextAt: '2026-01-01T07:00:00Z',
    });
    expect(deletes(decide(seen(broken, 8 * hour)))).toEqual(['Workspace true']);
  });
});
