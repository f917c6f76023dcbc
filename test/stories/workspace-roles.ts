import { expect } from 'vitest';
import { createSiteKey } from '../../deploy/keys.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { siteKeyRef } from '../../shared/workspaces/site-key.ts';
import { putImage } from './images.ts';
import {
  aMachine,
  changeWorkspace,
  componentOf,
  conditionIn,
  controlNet,
  createWorkspace,
  deleteWorkspace,
  inLab,
  labNamespace,
  onControlNet,
  policyOf,
  readyWorkspace,
  type Spec,
  untilComponent,
  untilCondition,
  untilWorkspace,
  workloadImage,
  workspaceStories,
} from './workspaces.ts';
import { comesBack, setPolicy, until, untilGone, type World } from './world.ts';

type Role = { role: string; variables?: Record<string, unknown> };

/** A lab of one machine with these deploy roles. */
const withRoles = (world: World, ...deploy: Role[]): Spec => ({
  networks: [controlNet],
  vms: [
    aMachine(world, 'vm', 'base', {
      interfaces: onControlNet('10.10.0.161/24'),
      ansible: { roles: { build: [{ role: 'specialize' }], deploy } },
    }),
  ],
});

const runner = { ...policyOf, ansibleRunnerImage: workloadImage };
const jobsIn = ({ kube }: World) => kube.list(Job, { namespace: labNamespace });
const nameOfJob = (workspace: Workspace) =>
  workspace.status?.components?.find(({ kind }) => kind === 'AnsibleRoles')?.name ?? '';

/** What ansible-runner says at its end, of a role that failed. */
const failedIn = (role: string) => JSON.stringify({ ok: 3, changed: 1, failed: 1, unreachable: 0, role });

export const stories = workspaceStories({
  async 'deploy roles without a runner: the workspace is Ready, and says that they were not run, and why'(world) {
    await putImage(world, 'base');
    const lab = await readyWorkspace(world, 'lab1', withRoles(world, { role: 'runtimeChecks' }));
    expect(conditionIn(lab, 'AnsibleSkipped')).toMatchObject({
      status: 'True',
      reason: 'NoRunnerImage',
      message: expect.stringContaining('ansibleRunnerImage'),
    });
    expect(componentOf(lab, 'AnsibleRoles', 'vm')?.phase).toBe('Skipped');
    expect(await jobsIn(world)).toEqual([]);
  },
  'a runner that the policy names: deploy roles run once the machine is Ready, and once more for each change of them': {
    provesPermissions: {},
    smoke: true,
    policy: runner,
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      const first = await readyWorkspace(
        world,
        'lab1',
        withRoles(world, { role: 'router', variables: { enable_nat: true } }),
      );
      expect(conditionIn(first, 'AnsibleDeployed')).toMatchObject({ status: 'True' });
      expect(componentOf(first, 'AnsibleRoles', nameOfJob(first))).toMatchObject({ reason: 'RolesDeployed' });
      const [job] = await jobsIn(world);
      const machine = await kube.get(VirtualMachine, inLab('vm'));
      const begun = Date.parse(job?.metadata.creationTimestamp ?? '');
      expect(begun).toBeGreaterThanOrEqual(Math.floor(Date.parse(machine?.status?.readyAt ?? '') / 1000) * 1000);
      // A change that is no role of the machine runs nothing again.
      await changeWorkspace(world, 'lab1', { volumes: [{ name: 'more', size: '1Gi' }] });
      await untilComponent(world, 'lab1', ['Volume', 'more'], 'Ready');
      await untilWorkspace(world, 'lab1', 'Ready');
      expect((await jobsIn(world)).map(({ metadata }) => metadata.uid)).toEqual([job?.metadata.uid]);
      const inventory = inLab('ansible-inventory');
      await kube.patch(ConfigMap, inventory, { data: { 'hosts.yml': 'all: {}' } });
      const variables = { enable_nat: false };
      await changeWorkspace(world, 'lab1', { vms: withRoles(world, { role: 'router', variables }).vms });
      const second = await untilWorkspace(world, 'lab1', 'Ready');
      expect(nameOfJob(second)).not.toBe(nameOfJob(first));
      expect((await kube.get(ConfigMap, inventory))?.data?.['hosts.yml']).toContain('10.10.0.161');
      await untilGone(world, Job, inLab(nameOfJob(first)));
      await untilGone(world, ConfigMap, inLab(nameOfJob(first)));
    },
  },
  'deploy roles run again for a machine that was created again, and when a user asks': {
    policy: runner,
    run: async (world) => {
      const { kube } = world;
      await putImage(world, 'base');
      await createWorkspace(world, 'lab1', withRoles(world, { role: 'router' }));
      const first = nameOfJob(await untilWorkspace(world, 'lab1', 'Ready'));
      const runsAnother = (name: string) => (found: Workspace | undefined) =>
        found?.status?.phase === 'Ready' &&
        conditionIn(found, 'AnsibleDeployed')?.status === 'True' &&
        nameOfJob(found) !== name;
      await comesBack(world, VirtualMachine, inLab('vm'));
      const second = nameOfJob((await until(world, Workspace, { name: 'lab1' }, runsAnother(first))) as Workspace);
      const asked = { metadata: { annotations: { 'pelotech.ot/roles-requested': 'once more' } } };
      await kube.patch(Workspace, { name: 'lab1' }, asked);
      await until(world, Workspace, { name: 'lab1' }, runsAnother(second));
    },
  },
  'a role that fails fails the workspace, which names it, and other roles heal it': {
    policy: runner,
    local: {
      workloads: {
        faults: [{ match: 'vm-roles', mode: 'exits', exitCode: 2, times: 3, message: failedIn('brokenRouter') }],
      },
    },
    run: async (world) => {
      await putImage(world, 'base');
      await createWorkspace(world, 'lab1', withRoles(world, { role: 'brokenRouter' }));
      // Kubernetes waits before each of three tries.
      const failed = await untilWorkspace(world, 'lab1', 'Failed', 120_000);
      expect(failed.status?.message).toContain('role brokenRouter');
      expect(conditionIn(failed, 'AnsibleDeployed')).toMatchObject({ status: 'False', reason: 'RoleFailed' });
      await changeWorkspace(world, 'lab1', { vms: withRoles(world, { role: 'mendedRouter' }).vms });
      await untilWorkspace(world, 'lab1', 'Ready');
    },
  },
  "a key of the workspace's own: its machine waits for the site's, gets the public one, and the private one goes when it is wanted no more":
    {
      provesPermissions: { byTimers: true },
      policy: { ...runner, ansibleCredentials: 'true' },
      run: async (world) => {
        const { kube } = world;
        await kube.delete(Secret, siteKeyRef).catch(() => undefined);
        await putImage(world, 'base');
        await createWorkspace(world, 'lab1', withRoles(world, { role: 'router' }));
        const waiting = await untilComponent(world, 'lab1', ['VirtualMachine', 'vm'], 'Waiting', 'CredentialsMissing');
        expect(componentOf(waiting, 'VirtualMachine', 'vm')?.message).toContain(
          'kubectl create secret generic workspace-key',
        );
        expect(await kube.list(VirtualMachine, { namespace: labNamespace })).toEqual([]);
        await createSiteKey(kube);
        // A Secret has no event: the audit finds it.
        await untilWorkspace(world, 'lab1', 'Ready');
        const key = inLab('ansible-credentials');
        const privateKey = Buffer.from(
          (await kube.get(Secret, key))?.data?.['ssh-privatekey'] ?? '',
          'base64',
        ).toString();
        expect(privateKey).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
        const machine = await kube.get(VirtualMachine, inLab('vm'));
        expect(machine?.spec.users).toMatchObject([
          { name: 'ansible', ssh_authorized_keys: [expect.stringMatching(/^ssh-ed25519 /)] },
        ]);
        expect(machine?.spec.sshHostKeySecretRef).toEqual({ name: 'ssh-host-keys', key: 'vm' });
        const cloudInit = await kube.get(Secret, inLab('vm-cloud-init'));
        expect(Buffer.from(cloudInit?.data?.userdata ?? '', 'base64').toString()).toContain(
          'ed25519_private: "-----BEGIN',
        );
        await kube.patch(Secret, key, { data: { 'ssh-privatekey': 'dHdv' } });
        await until(world, Secret, key, (found) => found?.data?.['ssh-privatekey'] !== 'dHdv');
        await setPolicy(world, { ansibleCredentials: undefined });
        await untilGone(world, Secret, key);
        await untilGone(world, Secret, inLab('ssh-host-keys'));
        await untilWorkspace(world, 'lab1', 'Ready');
      },
    },
  'roles of the site: their tasks are in its ConfigMap, and an edit of it reaches the next run': {
    policy: { ...runner, ansibleRolesConfigMap: 'site-roles' },
    run: async (world) => {
      const { kube } = world;
      const site = { namespace: operatorNamespace, name: 'site-roles' };
      await kube.create(ConfigMap, { metadata: site, data: { 'router.yml': '- debug: { msg: first }' } } as never);
      await putImage(world, 'base');
      await createWorkspace(world, 'lab1', withRoles(world, { role: 'router' }));
      const first = nameOfJob(await untilWorkspace(world, 'lab1', 'Ready'));
      const project = await kube.get(ConfigMap, inLab(first));
      expect(Object.values(project?.data ?? {}).join('\n')).toContain('first');
      await deleteWorkspace(world, 'lab1');
      await kube.delete(ConfigMap, site);
    },
  },
  'a site that runs deploy roles itself: nothing is run, and the workspace is Ready': {
    policy: { ...runner, ansible: 'External' },
    run: async (world) => {
      await putImage(world, 'base');
      const lab = await readyWorkspace(world, 'lab1', withRoles(world, { role: 'router' }));
      expect(conditionIn(lab, 'AnsibleSkipped')).toMatchObject({ reason: 'External' });
      await setPolicy(world, { ansible: undefined, ansibleRunnerImage: undefined });
      await untilCondition(world, 'lab1', 'AnsibleSkipped', 'NoRunnerImage');
    },
  },
});
