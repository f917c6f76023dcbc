import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { User } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { allRoles, aMachine, aPolicy, aSite, aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import type { Site } from '../observed.ts';
import { credentialsFor, keyFor } from './credentials.ts';
import { hostKeysFor, hostKeysOf } from './host-keys.ts';
import { jobNamesOf } from './job-name.ts';
import { accessTo } from './login.ts';
import { describeSkipped, rolesOf } from './roles.ts';
import type { Role } from './roles-of-machine.ts';
import { buildRecord } from './roles-of-machine.ts';

const two = aWorkspace([
  aVm({ deploy: [{ role: 'linuxRouter', variables: { enable_nat: true } }, { role: 'runtimeChecks' }] }),
  aVm({ name: 'web', interfaces: [{ network: 'control-net', ipAddress: '10.10.0.162/24' }] }),
  aVm({ name: 'bare', deploy: [], interfaces: [] }),
]);
const filesOf = (found: ReturnType<typeof allRoles>, name: string) =>
  found.configMaps.find(({ metadata }) => metadata.name === name)?.data ?? {};
const fileOf = (found: ReturnType<typeof allRoles>, name: string, key: string): unknown =>
  parse(filesOf(found, name)[key] ?? '', { version: '1.1' });
const firstJob = (found: ReturnType<typeof allRoles>) => {
  const [job] = found.jobs;
  if (!job) throw new Error('expected a Job, found none');
  return job;
};

describe('what a machine is deployed with', () => {
  test('is a Job for each machine with deploy roles, and a ConfigMap of its name beside that of the inventory', () => {
    const { jobs, configMaps } = allRoles(two);
    expect(jobs.map(({ metadata }) => metadata.labels['pelotech.ot/virtual-machine'])).toEqual(['demo-vm', 'web']);
    expect(configMaps.map(({ metadata }) => metadata.name)).toEqual([
      'ansible-inventory',
      ...jobs.map(({ metadata }) => metadata.name),
    ]);
    for (const { metadata } of [...jobs, ...configMaps]) {
      expect(metadata).toMatchObject({
        namespace: 'ws-demo-workspace-1',
        labels: { 'app.kubernetes.io/managed-by': 'ot-functions', 'pelotech.ot/workspace-uid': 'uid-w' },
        ownerReferences: [{ kind: 'Workspace', name: 'demo-workspace-1', uid: 'uid-w', controller: true }],
      });
    }
  });
  test('knows all machines, their addresses, and who has which role', () => {
    expect(fileOf(allRoles(two), 'ansible-inventory', 'hosts.yml')).toEqual({
      all: {
        vars: {},
        hosts: { 'demo-vm': { ansible_host: '10.10.0.161' }, web: { ansible_host: '10.10.0.162' }, bare: {} },
        children: {
          role_linuxRouter: { hosts: { 'demo-vm': {} } },
          role_runtimeChecks: { hosts: { 'demo-vm': {}, web: {} } },
        },
      },
    });
  });
  test('is its roles in their sequence, once it accepts a login', () => {
    const found = allRoles(two);
    expect(fileOf(found, firstJob(found).metadata.name, 'site.yml')).toEqual([
      {
        name: 'Deploy the roles of demo-vm',
        hosts: 'demo-vm',
        gather_facts: false,
        pre_tasks: [
          {
            name: 'Wait until the machine lets us in',
            'ansible.builtin.wait_for_connection': { timeout: 600 },
          },
          { name: 'Gather facts', 'ansible.builtin.setup': {} },
        ],
        roles: [{ role: 'linuxRouter', vars: { enable_nat: true } }, { role: 'runtimeChecks' }],
      },
    ]);
    expect(fileOf(found, 'ansible-inventory', 'host_vars.demo-vm.yml')).toEqual({ enable_nat: true });
    expect(fileOf(found, 'ansible-inventory', 'host_vars.web.yml')).toEqual({});
  });
  test('knows where it runs, except by a name that a role was given another value for', () => {
    const extraVars = (deploy: Role[]) => {
      const found = allRoles(aWorkspace([aVm({ deploy })]));
      return fileOf(found, firstJob(found).metadata.name, 'extravars');
    };
    expect(extraVars([{ role: 'a' }])).toEqual({ workspace: 'demo-workspace-1', vm: 'demo-vm', version: '2.1.0' });
    expect(extraVars([{ role: 'a', variables: { version: '7' } }])).not.toHaveProperty('version');
  });
  test('has the tasks of a role from the site where the site has them', () => {
    const found = allRoles(two, {}, { 'runtimeChecks.yml': '- ansible.builtin.ping:\n', 'other.yml': '[]' });
    const { metadata, spec } = firstJob(found);
    expect(filesOf(found, metadata.name)['roles.runtimeChecks.yml']).toBe('- ansible.builtin.ping:\n');
    expect(filesOf(found, metadata.name)).not.toHaveProperty(['roles.other.yml']);
    expect(spec.template.spec.volumes).toContainEqual({
      name: 'project',
      configMap: {
        name: metadata.name,
        items: [
          { key: 'site.yml', path: 'site.yml' },
          { key: 'outcome.py', path: 'callback_plugins/outcome.py' },
          { key: 'roles.runtimeChecks.yml', path: 'roles/runtimeChecks/tasks/main.yml' },
        ],
      },
    });
  });
  test('is laid out below /runner as ansible-runner reads it', () => {
    const { volumes, containers } = firstJob(allRoles(two)).spec.template.spec;
    expect(volumes[1]).toMatchObject({
      name: 'inventory',
      configMap: {
        name: 'ansible-inventory',
        // The key of a machine that is removed before the Pod starts is missing for ever.
        optional: true,
        items: [{ path: 'hosts.yml' }, { key: 'host_vars.demo-vm.yml', path: 'host_vars/demo-vm.yml' }, {}, {}],
      },
    });
    expect(containers[0]?.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
      '/runner',
      '/runner/inventory',
      '/runner/env',
      '/runner/project',
    ]);
  });
});

test('a Job mounts every key of a ConfigMap, and no others', () => {
  const found = allRoles(two, { ansibleCredentials: 'true' }, { 'linuxRouter.yml': '[]' });
  const held = new Set(
    found.configMaps.flatMap(({ metadata, data }) => Object.keys(data).map((key) => `${metadata.name} ${key}`)),
  );
  const mounted = new Set(
    found.jobs.flatMap(({ spec }) =>
      spec.template.spec.volumes.flatMap((volume) =>
        'configMap' in volume && volume.configMap
          ? volume.configMap.items.map(({ key }) => `${volume.configMap?.name} ${key}`)
          : [],
      ),
    ),
  );
  expect(mounted).toEqual(held);
  for (const key of held) expect(key).toMatch(/^\S+ [-._a-zA-Z0-9]+$/);
});

describe('the Job', () => {
  test('is tried three times within an hour, keeps its end, and may do nothing in the cluster', () => {
    const { spec } = firstJob(allRoles(two));
    expect(spec).toMatchObject({ backoffLimit: 2, activeDeadlineSeconds: 3600, podReplacementPolicy: 'Failed' });
    expect(spec).not.toHaveProperty('ttlSecondsAfterFinished');
    expect(spec.template.spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          image: 'registry.example/ansible-runner:1.0',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    });
  });
  test('takes as long as the policy allows', () => {
    expect(firstJob(allRoles(two, { ansibleTimeout: '90s' })).spec.activeDeadlineSeconds).toBe(90);
    expect(firstJob(allRoles(two, { ansibleTimeout: '0s' })).spec.activeDeadlineSeconds).toBe(1);
  });
});

describe('credentials', () => {
  const asked = { ansibleCredentials: 'true', ansibleUser: 'ops' };
  test('are mounted from a Secret, and are in no ConfigMap', () => {
    const found = allRoles(two, asked);
    expect(firstJob(found).spec.template.spec.volumes).toContainEqual({
      name: 'credentials',
      secret: { secretName: 'ansible-credentials', defaultMode: 0o440 },
    });
    expect(fileOf(found, 'ansible-inventory', 'hosts.yml')).toMatchObject({
      all: { vars: { ansible_user: 'ops', ansible_ssh_private_key_file: '/runner/credentials/ssh-privatekey' } },
    });
  });
  test('are a key of the workspace, and of no other', () => {
    const credentials = (uid: string, site = aSite()) =>
      credentialsFor({ ...two, metadata: { ...two.metadata, uid } }, aPolicy(asked), site);
    const [one, again, other, ofOtherSite] = [
      credentials('1'),
      credentials('1'),
      credentials('2'),
      credentials('1', aSite('l')),
    ];
    expect(one).toMatchObject({
      metadata: { name: 'ansible-credentials', namespace: 'ws-demo-workspace-1' },
      data: { 'ssh-privatekey': expect.any(String) },
    });
    expect(again?.data).toEqual(one?.data);
    expect(new Set([one, other, ofOtherSite].map((secret) => secret?.data['ssh-privatekey'])).size).toBe(3);
  });
  test.each<[string, Record<string, string>, Site]>([
    ['the policy asks for none', {}, aSite()],
    ['the site has no key', asked, { ...aSite(), key: undefined }],
    ["the site's key could be guessed", asked, aSite('k', 31)],
  ])('are not made: %s', (_, data, site) => {
    expect(credentialsFor(two, aPolicy(data), site)).toBeUndefined();
  });
});

describe('the users of a machine', () => {
  const [vm = aVm()] = two.spec.vms ?? [];
  const usersOf = (users: User[], data: Record<string, string> = {}, site = aSite(), of: object = {}) =>
    accessTo(
      { workspace: two, policy: aPolicy({ ansibleCredentials: 'true', ...data }) },
      { ...vm, users, ...of },
      keyFor(two, site)?.publicKey,
    );
  const publicKey = expect.stringMatching(/^ssh-ed25519 \S+$/);
  const alice = { name: 'alice', ssh_authorized_keys: ['ssh-ed25519 AAAA alice'] };
  test.each([
    ['ansible', {}],
    ['ops', { ansibleUser: 'ops' }],
    ['ops', { ansibleUser: 'Ops' }],
  ])('are those of the spec and %s, who has the key and becomes root', (login, data) => {
    expect(usersOf([alice], data)).toMatchObject({
      users: [alice, { name: login, sudo: 'ALL=(ALL) NOPASSWD:ALL', ssh_authorized_keys: [publicKey] }],
    });
    const found = allRoles(two, { ansibleCredentials: 'true', ...data });
    expect(fileOf(found, 'ansible-inventory', 'hosts.yml')).toMatchObject({ all: { vars: { ansible_user: login } } });
  });
  test('who have that login already have the key beside their own, and keep their sudo', () => {
    const users = [alice, { name: 'Bob', sudo: 'ALL=(ALL) ALL' }];
    expect(usersOf(users, { ansibleUser: 'alice' })).toMatchObject({
      users: [{ ...alice, ssh_authorized_keys: [...alice.ssh_authorized_keys, publicKey] }, users[1]],
    });
    expect(usersOf(users, { ansibleUser: 'bob' })).toMatchObject({
      users: [alice, { ...users[1], ssh_authorized_keys: [publicKey] }],
    });
  });
  test.each<[string, Record<string, string>, object?]>([
    ['the policy asks for no key', { ansibleCredentials: 'false' }],
    ['the site runs the roles', { ansible: 'External' }],
    ['the machine has none', {}, { ansible: undefined }],
    ['the machine is not started', {}, { ignoreOnDeploy: true }],
  ])('are those of the spec where %s', (_, data, of) => {
    expect(usersOf([alice], data, aSite(), of)).toEqual({ users: [alice] });
  });
  test.each<[string, Record<string, string>, Site, string]>([
    ['the site has no key', {}, { ...aSite(), key: undefined }, 'CredentialsMissing'],
    ["the site's key could be guessed", {}, aSite('k', 31), 'CredentialsMissing'],
    ['the policy does not parse', { ansibleCredentials: 'perhaps' }, aSite(), 'InvalidPolicy'],
  ])('are not known while %s', (_, data, site, reason) => {
    expect(usersOf([alice], data, site)).toEqual({ because: expect.objectContaining({ phase: 'Waiting', reason }) });
  });
  test('wait with what to do', () => {
    expect(usersOf([], {}, { ...aSite(), key: undefined })).toMatchObject({
      because: { message: expect.stringContaining('kubectl create secret generic workspace-key -n sync-operator') },
    });
  });
});

describe('host keys', () => {
  const asked = { ansibleCredentials: 'true' };
  const keysOf = (workspace = two, site = aSite()) =>
    (hostKeysFor(hostKeysOf(workspace, site)).fields as { data: Record<string, string> }).data;
  const known = (data: Record<string, string> = asked) => filesOf(allRoles(two, data), 'ansible-inventory').known_hosts;

  test('are one for each machine with deploy roles, which runners expect at its address, and no others', () => {
    expect(Object.keys(keysOf())).toEqual(['demo-vm', 'web']);
    const publicKey = 'ssh-ed25519 (AAAAC3NzaC1lZDI1NTE5AAAA\\S+)';
    const [, first, second] =
      new RegExp(`^10\\.10\\.0\\.161 ${publicKey}\\n10\\.10\\.0\\.162 ${publicKey}\\n$`).exec(known() ?? '') ?? [];
    for (const [base64 = '', privateKey = ''] of [
      [first, keysOf()['demo-vm']],
      [second, keysOf().web],
    ]) {
      const file = Buffer.from(privateKey, 'base64')
        .toString()
        .replaceAll(/-----.*-----|\n/g, '');
      expect(Buffer.from(file, 'base64').includes(Buffer.from(base64, 'base64'))).toBe(true);
    }
  });
  test('differ between workspaces, machines and sites, and stay those of a machine that is created again', () => {
    const other = { ...two, metadata: { ...two.metadata, uid: 'other' } };
    const all = [keysOf(), keysOf(other), keysOf(two, aSite('l'))].flatMap(Object.values);
    expect(new Set(all).size).toBe(6);
    expect(keysOf()).toEqual(keysOf());
  });
  test('are checked where the operator knows them, and only there', () => {
    const checks = (data: Record<string, string>) =>
      firstJob(allRoles(two, data)).spec.template.spec.containers[0]?.env.find(({ name }) => /HOST_KEY/.test(name))
        ?.value;
    const vars = (data: Record<string, string>) =>
      JSON.stringify(fileOf(allRoles(two, data), 'ansible-inventory', 'hosts.yml'));
    expect([checks(asked), checks({})]).toEqual(['True', 'False']);
    expect(vars(asked)).toContain('-o StrictHostKeyChecking=yes -o UserKnownHostsFile=/runner/inventory/known_hosts');
    expect([known({}), vars({})]).toEqual([undefined, expect.not.stringContaining('StrictHostKeyChecking')]);
  });
});

describe('no roles are run', () => {
  test.each([
    ['where no image is configured', { ansibleRunnerImage: undefined }, two, 'NoRunnerImage'],
    ['where the site runs them', { ansible: 'External' }, two, 'External'],
    ['on machines that are not started', {}, aWorkspace([aVm({ ignoreOnDeploy: true })]), 'NotStarted'],
    ['without roles', {}, aWorkspace([aVm({ deploy: [], build: [{ role: 'specialize' }] })]), 'NoDeployRoles'],
  ] as const)('%s', (_, data, workspace, skippedBecause) => {
    const policy = aPolicy();
    const found = rolesOf(
      workspace,
      { ...policy, values: { ...policy.values, ...data } },
      jobNamesOf(workspace, [aMachine()]),
      [],
    );
    expect(found).toMatchObject({ jobs: [], configMaps: [], skippedBecause });
    expect(describeSkipped(skippedBecause)).toMatch(/\w+.*\.$/);
  });
  test('while a key of the policy does not parse, and what there is stays', () => {
    expect(allRoles(two, { ansibleTimeout: 'soon' })).toMatchObject({ jobs: [], configMaps: [], isBlocked: true });
  });
  test('on a machine that is not there', () => {
    const { jobs } = rolesOf(two, aPolicy(), jobNamesOf(two, [aMachine('web')]), []);
    expect(jobs.map(({ metadata }) => metadata.labels['pelotech.ot/virtual-machine'])).toEqual(['web']);
  });
});

test('a machine whose ignoreOnDeploy the policy takes no notice of is deployed', () => {
  expect(allRoles(aWorkspace([aVm({ ignoreOnDeploy: true })]), { ignoreOnDeploy: 'Start' }).jobs).toHaveLength(1);
});

test('build roles are recorded by their names, and not run', () => {
  const vm = aVm({
    build: [{ role: 'specialize' }, { role: 'linuxRouter', variables: { password: 'x' } }],
    deploy: [],
  });
  expect(buildRecord(vm)).toEqual({ 'pelotech.ot/built-with-roles': 'specialize,linuxRouter' });
  expect(buildRecord(aVm())).toEqual({});
});
