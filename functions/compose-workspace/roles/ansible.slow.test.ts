import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allRoles, aPolicy, aSite, aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import { installAnsible } from '../../../test/support/tools/ansible.ts';
import { startGuest } from '../../../test/support/tools/ssh-guest.ts';
import { credentialsFor, keyFor } from './credentials.ts';
import { isVariableName } from './faults.ts';
import { hostKeysFor, hostKeysOf } from './host-keys.ts';
import { accessTo } from './login.ts';
import { parseOutcome } from './outcome.ts';
import type { Role } from './roles-of-machine.ts';

const { bin = '', lacking } = await installAnsible();
if (lacking) console.warn(`skipped: what Ansible makes of our files: ${lacking}`);

const seed = aWorkspace([
  aVm({
    build: [{ role: 'specialize' }],
    deploy: [{ role: 'linuxRouter', variables: { enable_nat: true, nat_out_iface_idx: 1 } }, { role: 'runtimeChecks' }],
  }),
  aVm({ name: 'web', interfaces: [{ network: 'control-net', ipAddress: '10.10.0.162/24' }] }),
]);

describe.skipIf(lacking)('Ansible', { timeout: 120_000 }, () => {
  let runner: string;
  beforeEach(async () => {
    runner = await mkdtemp(join(tmpdir(), 'ansible-'));
  });
  afterEach(() => rm(runner, { recursive: true }));

  /** Writes what the Job of a machine mounts to where it mounts it, and a role of these tasks for each that it names. */
  async function layOut(found: ReturnType<typeof allRoles>, tasks: Record<string, object[]> = {}, index = 0) {
    const job = found.jobs[index];
    const { volumes = [], containers = [] } = job?.spec.template.spec ?? {};
    for (const volume of volumes) {
      if (!('configMap' in volume) || !volume.configMap) continue;
      const { name, items } = volume.configMap;
      const mountPath = containers[0]?.volumeMounts.find((mount) => mount.name === volume.name)?.mountPath ?? '';
      const data = found.configMaps.find(({ metadata }) => metadata.name === name)?.data ?? {};
      for (const { key, path } of items) await write(join(mountPath.replace(/^\/runner/, ''), path), data[key] ?? '');
    }
    for (const [role, of] of Object.entries(tasks)) {
      await write(`project/roles/${role}/tasks/main.yml`, JSON.stringify(of));
    }
  }

  async function write(path: string, text: string) {
    const file = join(runner, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  const read = (path: string) => readFile(join(runner, path), 'utf8');

  /** Runs a command of Ansible's as ansible-runner does, which adds env/extravars; resolves with its code and what it said. */
  async function ansible(command: string, ...args: string[]) {
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: runner,
      LANG: 'C.UTF-8',
      OUTCOME_FILE: join(runner, 'outcome'),
      ANSIBLE_NOCOLOR: '1',
    };
    const all = ['-i', join(runner, 'inventory/hosts.yml'), '-e', `@${join(runner, 'env/extravars')}`, ...args];
    const options = { cwd: join(runner, 'project'), env, maxBuffer: 50_000_000 };
    return promisify(execFile)(join(bin, command), all, options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code: Number(code), stdout: String(stdout), stderr: String(stderr) }),
    );
  }

  const noTasks = { linuxRouter: [], runtimeChecks: [], a: [], b: [] };
  /** On this machine, as the named one does not exist. */
  const here = ['-e', 'ansible_connection=local', '-e', `ansible_python_interpreter=${join(bin, 'python')}`];

  test('takes the playbook', async () => {
    const found = allRoles(seed, { ansibleUser: 'ops', ansibleCredentials: 'true' });
    await layOut(found, noTasks);
    const { code, stdout, stderr } = await ansible('ansible-playbook', '--syntax-check', 'site.yml');
    expect([code, stdout.trim(), stderr]).toEqual([0, 'playbook: site.yml', '']);
  });
  test('does not take one whose role there is not, which shows that it looks', async () => {
    await layOut(allRoles(seed), { linuxRouter: [] });
    const { code, stderr } = await ansible('ansible-playbook', '--syntax-check', 'site.yml');
    expect([code, stderr]).toEqual([expect.not.toSatisfy((it) => it === 0), expect.stringContaining('runtimeChecks')]);
  });
  test('takes a playbook with the tasks that the site has for a role', async () => {
    await layOut(allRoles(seed, {}, { 'linuxRouter.yml': '- ansible.builtin.ping:\n', 'runtimeChecks.yml': '[]' }));
    const { code, stdout } = await ansible('ansible-playbook', '--list-tasks', 'site.yml');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Gather facts.*\n\s+ansible\.builtin\.ping/)]);
  });

  test('reads the inventory as it is meant', async () => {
    await layOut(allRoles(seed, { ansibleUser: 'ops' }));
    const { code, stdout, stderr } = await ansible('ansible-inventory', '--list');
    expect([code, stderr]).toEqual([0, '']);
    const told = { workspace: 'demo-workspace-1', vm: 'demo-vm', version: '2.1.0', ansible_user: 'ops' };
    expect(JSON.parse(stdout)).toMatchObject({
      _meta: {
        hostvars: {
          'demo-vm': { ...told, ansible_host: '10.10.0.161', enable_nat: true, nat_out_iface_idx: 1 },
          web: { ...told, ansible_host: '10.10.0.162' },
        },
      },
      role_linuxRouter: { hosts: ['demo-vm'] },
      role_runtimeChecks: { hosts: ['demo-vm', 'web'] },
    });
  });

  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom(...' \t\n\r:#-?"\'{}[]&*!|>%@`,\\=~<0\u0000\u007f\u0085\u00a0\u2028\ufeff\u{1f600}é'),
    }),
    fc.constantFrom(
      'no',
      'y',
      '0123',
      '0o17',
      '12:30:45',
      '~',
      '1_000',
      '1e3',
      '.inf',
      '=',
      '<<',
      '2001-01-01',
      '{{ x }}',
    ),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
      fc.integer(),
      fc.constantFrom(true, false, null, 1e-7, 1e21, 1.5e300),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        text.filter((key) => !/^__ansible|^__proto__$/.test(key)),
        tie('value'),
        { maxKeys: 4 },
      ),
    ),
  }));

  test('reads every variable as it was written', async () => {
    const found = fc.sample(
      fc.dictionary(fc.stringMatching(/^v_[a-z0-9]{1,9}$/), value, { minKeys: 10, maxKeys: 20 }),
      30,
    );
    const all = found.map((variables) => JSON.parse(JSON.stringify(variables)) as Record<string, unknown>);
    await layOut(
      allRoles(
        aWorkspace(all.map((variables, index) => aVm({ name: `m${index}`, deploy: [{ role: 'a', variables }] }))),
      ),
    );
    const { code, stdout, stderr } = await ansible('ansible-inventory', '--list');
    expect([code, stderr]).toEqual([0, '']);
    const { _meta } = JSON.parse(stdout) as { _meta: { hostvars: Record<string, Record<string, unknown>> } };
    for (const [index, variables] of all.entries()) {
      const read = Object.keys(variables).map((name) => [name, _meta.hostvars[`m${index}`]?.[name]]);
      expect(Object.fromEntries(read)).toEqual(variables);
    }
  });

  test('takes for a variable what we do', async () => {
    const names = [
      ...fc.sample(fc.string({ unit: fc.constantFrom(...'aZ_09-. \n{é') }), 300),
      ...'a _ enable_nat None True true yes class async match case type 1a a\n print nonlocal self __proto__'.split(
        ' ',
      ),
    ];
    const script =
      'import json, sys; from ansible.utils.vars import isidentifier; print(json.dumps([isidentifier(n) for n in json.load(sys.stdin)]))';
    const child = promisify(execFile)(join(bin, 'python'), ['-c', script]);
    child.child.stdin?.end(JSON.stringify(names));
    expect(JSON.parse((await child).stdout)).toEqual(names.map(isVariableName));
  });

  test('gives each role its own variables, over those the role has itself, in order', async () => {
    const note = [
      {
        'ansible.builtin.lineinfile': {
          path: '{{ playbook_dir }}/../said',
          create: true,
          line: '{{ role_name }}: {{ x }} {{ y }} {{ vm }} of {{ workspace }}',
        },
      },
    ];
    const deploy: Role[] = [
      { role: 'b', variables: { x: 1, y: '{{ x + 1 }}' } },
      { role: 'a', variables: { x: 'ü: #', y: '{{ inventory_hostname }}' } },
    ];
    await layOut(allRoles(aWorkspace([aVm({ deploy })])), { a: note, b: note });
    await write('project/roles/a/vars/main.yml', '{"x": "of the role"}');
    const { code, stdout } = await ansible('ansible-playbook', ...here, 'site.yml');
    expect([code, stdout]).toEqual([0, expect.stringContaining('failed=0')]);
    expect(await read('said')).toBe(
      'b: 1 2 demo-vm of demo-workspace-1\na: ü: # demo-vm demo-vm of demo-workspace-1\n',
    );
    expect(parseOutcome(await read('outcome'))).toMatchObject({
      failed: 0,
      changed: 2,
      unreachable: 0,
    });
  });

  test('names the role that failed', async () => {
    const fail = [{ 'ansible.builtin.fail': { msg: 'no' } }];
    await layOut(allRoles(seed), { linuxRouter: [{ ...fail[0], ignore_errors: true }], runtimeChecks: fail });
    const { code } = await ansible('ansible-playbook', ...here, 'site.yml');
    expect(code).toBe(2);
    expect(parseOutcome(await read('outcome'))).toMatchObject({ failed: 1, unreachable: 0, role: 'runtimeChecks' });
  });

  test('reports a machine that refuses the login', async () => {
    await layOut(allRoles(seed), noTasks);
    await write('project/site.yml', (await read('project/site.yml')).replace('"timeout":600', '"timeout":1'));
    const nowhere = ['-e', 'ansible_host=127.0.0.1', '-e', 'ansible_port=1'];
    await ansible('ansible-playbook', ...nowhere, 'site.yml');
    expect(parseOutcome(await read('outcome'))).toMatchObject({ failed: 0, unreachable: 1 });
  });

  test('is run by ansible-runner with what the Job tells it', async () => {
    const found = allRoles(seed);
    await layOut(found, {
      linuxRouter: [{ 'ansible.builtin.copy': { content: '{{ vm }} {{ enable_nat }}', dest: join(runner, 'said') } }],
      runtimeChecks: [],
    });
    const args =
      found.jobs[0]?.spec.template.spec.containers[0]?.args.map((arg) => arg.replace(/^\/runner/, runner)) ?? [];
    const [command = '', ...rest] = args;
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: runner,
      LANG: 'C.UTF-8',
      OUTCOME_FILE: join(runner, 'outcome'),
    };
    const { stdout } = await promisify(execFile)(join(bin, command), [...rest, '--cmdline', here.join(' ')], { env });
    expect(stdout).toContain('failed=0');
    expect(await read('said')).toBe('demo-vm True');
    expect(parseOutcome(await read('outcome'))).toMatchObject({ failed: 0, changed: 1 });
  });

  describe('a guest', () => {
    const policy = { ansibleCredentials: 'true' };
    const [vm = aVm()] = seed.spec.vms ?? [];
    const labOf = (uid: string) => ({ ...seed, metadata: { ...seed.metadata, uid } });
    const loginOf = (uid: string) => {
      const workspace = labOf(uid);
      const found = { workspace, policy: aPolicy(policy), site: aSite() };
      const secret = credentialsFor(workspace, found.policy, found.site);
      const users = accessTo(found, vm, keyFor(workspace, found.site)?.publicKey);
      const [{ ssh_authorized_keys: accepted = [] } = {}] = ('users' in users && users.users) || [];
      return { privateKey: Buffer.from(secret?.data['ssh-privatekey'] ?? '', 'base64').toString(), accepted };
    };

    /** What a run says that has the key of a lab, on a guest of another or the same. */
    async function runOn(guestOf: string, lab: string, host = lab) {
      await layOut(allRoles(labOf(lab), policy), {
        linuxRouter: [{ 'ansible.builtin.copy': { content: '{{ ansible_user }}', dest: join(runner, 'said') } }],
        runtimeChecks: [],
      });
      const hosts = await read('inventory/hosts.yml');
      await write('inventory/hosts.yml', hosts.replaceAll('/runner/', `${runner}/`));
      await write('project/site.yml', (await read('project/site.yml')).replace('"timeout":600', '"timeout":5'));
      await write('credentials/ssh-privatekey', loginOf(lab).privateKey);
      await chmod(join(runner, 'credentials/ssh-privatekey'), 0o600);
      const keys = hostKeysFor(hostKeysOf(labOf(host), aSite())).fields.data as Record<string, string>;
      const hostKey = Buffer.from(keys[vm.name] ?? '', 'base64').toString();
      const guest = await startGuest(bin, { hostKey, authorizedKeys: loginOf(guestOf).accepted.join('\n') });
      try {
        const there = [
          'ansible_host=127.0.0.1',
          `ansible_port=${guest.port}`,
          'ansible_ssh_extra_args="-o HostKeyAlias=10.10.0.161"',
        ];
        await ansible('ansible-playbook', ...there.flatMap((one) => ['-e', one]), ...here.slice(2), 'site.yml');
      } finally {
        guest.close();
      }
      return parseOutcome(await read('outcome'));
    }

    test('lets in the key of its workspace, over ssh', async () => {
      expect(await runOn('lab-a', 'lab-a')).toMatchObject({ failed: 0, unreachable: 0, changed: 1 });
      expect(await read('said')).toBe('ansible');
    });
    test('refuses the key of another workspace', async () => {
      const outcome = await runOn('lab-b', 'lab-a');
      expect(outcome).toMatchObject({ failed: 0, unreachable: 1 });
      expect(outcome).not.toHaveProperty('stranger');
    });
    test('with the host key of another is given no command, and the outcome says so', async () => {
      expect(await runOn('lab-a', 'lab-a', 'lab-b')).toMatchObject({ failed: 0, unreachable: 1, stranger: true });
      await expect(read('said')).rejects.toThrow('ENOENT');
    });
  });
});
