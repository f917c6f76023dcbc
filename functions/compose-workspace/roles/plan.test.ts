import { describe, expect, test } from 'vitest';
import type { Action } from '../../../shared/actions.ts';
import type { Context } from '../../../shared/function.ts';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Resource } from '../../../shared/kinds/resource.ts';
import { workspaceChild } from '../../../shared/workspaces/workspace.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { allRoles, aPolicy, aSite, aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import { makeFor } from '../child.ts';
import { observeOne } from '../gather.ts';
import { type Inside, nothingInside, ownObjects, type Site } from '../observed.ts';
import { hostKeysOf } from './host-keys.ts';
import { rolesStage } from './plan.ts';
import { runsOf } from './status.ts';

const workspace = aWorkspace();
const namespace = 'ws-demo-workspace-1';
const machine = () => {
  const { ownerReferences } = workspaceChild(workspace, { namespace, name: 'demo-vm' });
  const made = aVirtualMachine({ name: 'demo-vm', namespace });
  return { ...made, metadata: { ...made.metadata, ownerReferences } };
};

/** The stage of the workspace's one machine, with the objects beside it. */
function stage(
  inside: Partial<Inside> = {},
  data: Record<string, string> = {},
  of = workspace,
  site?: Site,
  areMachinesReady = true,
) {
  const found = { ...nothingInside, machines: [machine()], ...inside, workspace: of, policy: aPolicy(data), site };
  const outside = { isServed: false, vpc: undefined, subnets: [] };
  const own = ownObjects({ ...found, namespace: undefined, inside: found, outside });
  const make = makeFor({ workspace: of, roleBinding: undefined, refusals: new Map(), nowMs: 0 });
  return rolesStage(
    { ...found, own, keys: hostKeysOf(of, site), runs: runsOf(own.jobs, found.pods) },
    make,
    areMachinesReady,
  );
}

const written = (found: ReturnType<typeof stage>) =>
  found?.writes.map((action) => `${action.do} ${'resource' in action ? action.resource.kind : ''}`);

const [wanted] = allRoles(workspace).jobs;
const job = (name: string | undefined, status?: object) =>
  Job.parse({ metadata: { ...workspaceChild(workspace, { namespace, name: name ?? '' }), uid: 'uid-job' }, status });

/** Whether the key of the workspace is looked for in a namespace with these Jobs. */
async function isKeyRead(of: Workspace, jobs: Job[], data: Record<string, string> = {}) {
  const owned = workspaceChild(of, { name: 'any' });
  const read: string[] = [];
  const kube = {
    get: async ({ kind }: Resource, { name }: { name: string }) => {
      read.push(`${kind} ${name}`);
      return kind === 'Namespace' || kind === 'RoleBinding' ? { metadata: owned } : undefined;
    },
    list: async ({ kind }: Resource) => (kind === 'Job' ? jobs : []),
  };
  await observeOne({ kube, nowMs: 0, refusals: new Map() } as unknown as Context, of, aPolicy(data));
  return read.includes('Secret ansible-credentials');
}

describe('the key of a workspace', () => {
  const bare = aWorkspace([aVm({ deploy: [] })]);
  const components = [{ kind: 'AnsibleRoles', name: 'vm', phase: 'Ready', reason: '', message: '' }] as const;
  test.each<[string, Workspace, Job[], Record<string, string>, boolean]>([
    ['where Jobs are begun with it', workspace, [], { ansibleCredentials: 'true' }, true],
    ['where Jobs of before are left', bare, [job('demo-vm-roles-0000000000')], {}, true],
    ['if the status reports roles', { ...bare, status: { components: [...components] } }, [], {}, true],
    ['nowhere else', bare, [], { ansibleCredentials: 'true' }, false],
  ])('is looked for %s', async (_, of, jobs, data, isRead) => {
    expect(await isKeyRead(of, jobs, data)).toBe(isRead);
  });
});

describe('deploy roles', () => {
  test('are begun with what they read, which is made first', () => {
    expect(written(stage())).toEqual(['create ConfigMap', 'create ConfigMap', 'create Job']);
  });
  test('of one machine are written one after another, and of two machines independently', () => {
    const two = aWorkspace([aVm(), aVm({ name: 'web' })]);
    const web = { ...machine(), metadata: { ...machine().metadata, name: 'web', uid: 'uid-web' } };
    const earlier = job('demo-vm-roles-0000000000');
    const labels = { ...earlier.metadata.labels, 'pelotech.ot/virtual-machine': 'demo-vm' };
    const found = stage(
      { machines: [machine(), web], jobs: [{ ...earlier, metadata: { ...earlier.metadata, labels } }] },
      {},
      two,
    );
    expect(written(found)?.map((what, index) => [what, found?.sequenceOf?.(found.writes[index] as Action)])).toEqual([
      ['delete Job', 'demo-vm'],
      ['create ConfigMap', undefined],
      ['create ConfigMap', 'demo-vm'],
      ['create ConfigMap', 'web'],
      ['create Job', 'demo-vm'],
      ['create Job', 'web'],
    ]);
  });
  test('that ran are left as they are', () => {
    const done = job(wanted?.metadata.name, { conditions: [{ type: 'Complete', status: 'True' }] });
    const found = stage({ jobs: [done] });
    expect(written(found)).toEqual(['create ConfigMap', 'create ConfigMap']);
    expect(found?.components).toMatchObject([{ kind: 'AnsibleRoles' }]);
  });
  test('are begun with the key of the workspace', () => {
    const found = stage({}, { ansibleCredentials: 'true' }, workspace, aSite());
    expect(written(found)).toEqual(['create Secret', 'create ConfigMap', 'create ConfigMap', 'create Job']);
  });
  test('wait while the site has no key', () => {
    const found = stage({}, { ansibleCredentials: 'true' });
    expect(found).toMatchObject({
      writes: [],
      components: [{ reason: 'CredentialsMissing', message: expect.stringContaining('sync-operator/workspace-key') }],
    });
  });
  test.each([
    ['the policy does not parse', { ansibleTimeout: 'soon' }, true],
    ['the machines are not Ready again', {}, false],
    ["the site's key is not there", { ansibleCredentials: 'true' }, true],
    ['the machine cannot be reached any more', { ansibleControlNetwork: 'mgmt' }, true],
  ])('that ran are Ready while %s', (_, data, areMachinesReady) => {
    const done = job(wanted?.metadata.name, { conditions: [{ type: 'Complete', status: 'True' }] });
    const found = stage({ jobs: [done] }, data, workspace, undefined, areMachinesReady);
    expect(found?.components).toMatchObject([{ name: wanted?.metadata.name, phase: 'Ready', reason: 'RolesDeployed' }]);
    expect(written(found)).not.toContain('delete Job');
    expect(written(found)).not.toContain('create Job');
  });
  test.each([
    ['the machines are not Ready', {}, 'MachinesNotReady'],
    ['the policy does not parse', { ansibleTimeout: 'soon' }, 'InvalidPolicy'],
  ])('of which one ran wait for the others while %s', (_, data, reason) => {
    const two = aWorkspace([aVm(), aVm({ name: 'web' })]);
    const done = job(wanted?.metadata.name, { conditions: [{ type: 'Complete', status: 'True' }] });
    const found = stage({ jobs: [done] }, data, two, undefined, false);
    expect(found?.components).toMatchObject([{ phase: 'Ready' }, { name: 'web', phase: 'Waiting', reason }]);
  });
  test('of a machine that is out of reach have failed, and the others begin', () => {
    const two = aWorkspace([aVm({ interfaces: [] }), aVm({ name: 'web' })]);
    const web = { ...machine(), metadata: { ...machine().metadata, name: 'web', uid: 'uid-web' } };
    const found = stage({ machines: [machine(), web] }, {}, two);
    expect(written(found)).toEqual(['create ConfigMap', 'create ConfigMap', 'create Job']);
    expect(found?.components).toMatchObject([
      {
        name: 'demo-vm',
        phase: 'Failed',
        reason: 'NoControlAddress',
        message: expect.stringContaining('control-net'),
      },
      { name: expect.stringMatching(/^web-roles-/), phase: 'Provisioning' },
    ]);
  });
  test('of a machine that is out of reach wait while the policy does not parse', () => {
    expect(stage({}, { ansibleControlNetwork: '-' })?.components).toMatchObject([{ reason: 'InvalidPolicy' }]);
  });
  test('of before go', () => {
    expect(written(stage({ jobs: [job('demo-vm-roles-0000000000')] }))).toContain('delete Job');
  });
  test.each([
    ['no image', { ansibleRunnerImage: '' }, workspace, 'AnsibleDeployed', 'InvalidPolicy'],
    ['the site', { ansible: 'External' }, workspace, 'AnsibleSkipped', 'External'],
    ['a halted machine', {}, aWorkspace([aVm({ ignoreOnDeploy: true })]), 'AnsibleSkipped', 'NotStarted'],
  ])('are not run: %s', (_, data, of, condition, reason) => {
    const found = stage({ jobs: [job('demo-vm-roles-0000000000')] }, data, of);
    expect(found).toMatchObject({ condition, writes: [], components: [{ name: 'demo-vm', reason }] });
  });
  const keyOwnedBy = (uid: string) => {
    const { ownerReferences = [] } = workspaceChild(workspace, { namespace, name: 'ansible-credentials' });
    const metadata = { name: 'ansible-credentials', namespace, ownerReferences };
    return Secret.parse({
      metadata: { ...metadata, ownerReferences: ownerReferences.map((one) => ({ ...one, uid })) },
    });
  };
  const beside = (credentials: Secret): Site => ({ roles: {}, key: undefined, credentials, hostKeys: undefined });
  test.each<[string, Record<string, string>, Workspace, boolean?]>([
    ['the policy asks for none', {}, workspace],
    ['the machines are not Ready', {}, workspace, false],
    ['the site runs them', { ansible: 'External', ansibleCredentials: 'true' }, workspace],
    ['no machine has any', { ansibleCredentials: 'true' }, aWorkspace([aVm({ deploy: [] })])],
  ])('leave no key where %s', (_, data, of, areMachinesReady = true) => {
    const before = { jobs: [job('demo-vm-roles-0000000000')] };
    expect(written(stage(before, data, of, beside(keyOwnedBy('uid-w')), areMachinesReady))).toContain('delete Secret');
    expect(written(stage(before, data, of, beside(keyOwnedBy('another')), areMachinesReady))).not.toContain(
      'delete Secret',
    );
  });
  test.each([
    ['the policy does not parse', { ansibleCredentials: 'perhaps' }],
    ["the site's is not there for a moment", { ansibleCredentials: 'true' }],
  ])('keep their key while %s', (_, data) => {
    expect(written(stage({}, data, workspace, beside(keyOwnedBy('uid-w'))))).toEqual([]);
  });
  test('say what the newest Pod of a failed Job said', () => {
    const pod = (second: number, role: string) =>
      Pod.parse({
        metadata: {
          name: `p${second}`,
          creationTimestamp: `2026-01-01T00:00:0${second}Z`,
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'uid-job' }],
        },
        status: {
          containerStatuses: [
            { state: { terminated: { exitCode: 2, message: JSON.stringify({ failed: 1, unreachable: 0, role }) } } },
          ],
        },
      });
    const failed = job(wanted?.metadata.name, { conditions: [{ type: 'Failed', status: 'True' }] });
    const { configMaps } = allRoles(workspace);
    const [first, second] = configMaps.map((map) => map as unknown as Inside['configMaps'][number]);
    const found = stage({
      jobs: [failed],
      pods: [pod(1, 'a'), pod(3, 'c'), pod(2, 'b')],
      configMaps: [first, second].flatMap((map) => (map ? [map] : [])),
    });
    expect(found?.components).toMatchObject([
      { phase: 'Failed', reason: 'RoleFailed', message: expect.stringContaining('role c') },
    ]);
  });
});
