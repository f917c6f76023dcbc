import { access, glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadAllFunctions } from '../../knative/functions.ts';

const root = new URL('../../', import.meta.url);
const text = await readFile(new URL('deploy/production/threat-model.md', root), 'utf8');

/** The rows of the tables under a heading, cell by cell. */
const rowsUnder = (heading: string) =>
  (text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));

describe('the threat model has a line for what an attacker gains in the process of', async () => {
  const rows = rowsUnder('An attacker in the process of a function');
  const functions = await loadAllFunctions();

  test('each function, the gateway and the console, and of nothing else', () => {
    const named = rows.map(([name = '']) => name.replace(/^the \[(\w+)\].*/, '$1'));
    expect(named.toSorted()).toEqual([...functions.map(({ name }) => name), 'gateway', 'console'].toSorted());
  });

  /** How the page calls a kind that a function may write, or read although it holds passwords. */
  const called: Record<string, RegExp> = {
    ClusterRole: /RoleBinding/,
    Namespace: /Namespace/,
    PersistentVolumeClaim: /claim/,
    VMDiskImage: /image/,
    'pelotech.ot VirtualMachine': /machine/,
    'kupenstack.io VirtualMachine': /KupenStack's machines/,
    'kubevirt.io VirtualMachine': /KubeVirt/,
    VolumeSnapshot: /snapshot/,
    Lease: /slots/,
    Job: /Jobs/,
    Service: /Services/,
    Subnet: /Subnet/,
    NetworkPolicy: /network policies/,
    NetworkAttachmentDefinition: /networks/,
    Secret: /Secret|publication keys/,
  };
  const writes = ['create', 'update', 'patch', 'delete'];

  test.each(functions)('$name, with all that it may write and each Secret it may read', ({ name, may }) => {
    const [, gains = ''] = rows.find(([first]) => first === name) ?? [];
    const weighty = may.filter(
      ({ resource, verbs }) =>
        resource.kind !== 'Event' && verbs.some((verb) => writes.includes(verb) || resource.kind === 'Secret'),
    );
    const missing = weighty.filter(({ resource: { kind, apiVersion } }) => {
      const words = called[kind] ?? called[`${apiVersion.split('/')[0]} ${kind}`] ?? new RegExp(kind, 'i');
      return !words.test(gains);
    });
    expect(missing.map(({ resource, verbs }) => `${verbs} ${resource.kind}`)).toEqual([]);
  });
});

describe('the tests that the threat model names', async () => {
  const cells = [...text.matchAll(/^\| .* \|$/gm)].map(([row]) => row.slice(2, -2).split(' | ').at(-1) ?? '');
  const tables = cells.flatMap((cell) => [...cell.matchAll(/`([\w./-]+)`†?/g)].map(([, name = '']) => name));
  const paths = (name: string) =>
    ['', 'test/attacks/', 'functions/compose-workspace/roles/'].flatMap((folder) =>
      ['', '.ts', '.test.ts'].map((end) => `${folder}${name}${end}`),
    );
  const isThere = (path: string) =>
    access(new URL(path, root)).then(
      () => true,
      () => false,
    );

  test('exist', async () => {
    const tests = tables.filter((name) => /\/|-/.test(name) && !name.startsWith('openstack-credentials'));
    expect(tests.length).toBeGreaterThan(40);
    const found = await Promise.all(
      tests.map(async (name) => (await Promise.all(paths(name).map(isThere))).some(Boolean)),
    );
    expect(tests.filter((_, index) => !found[index])).toEqual([]);
  });

  test('are all attacks, and a dagger is at those of a real cluster', async () => {
    const files = await Array.fromAsync(glob('test/attacks/*.ts', { cwd: root }));
    const declared = await readFile(new URL('test/attacks/declare-attacks.ts', root), 'utf8');
    const onReal = [...declared.matchAll(/from '\.\/([\w-]+)\.ts'/g)].map(([, name = '']) => name);
    const without = ['attack', 'attacker', 'declare-attacks', 'everywhere', 'threat-model'];
    const names = files
      .map((file) => basename(file).replace(/(\.test)?\.ts$/, ''))
      .filter((name) => !without.includes(name));
    expect(names.length).toBeGreaterThan(18);
    for (const name of names) {
      const plain = text.includes(`\`${name}\`${onReal.includes(name) ? '†' : ''}`);
      expect([name, plain && (onReal.includes(name) || !text.includes(`\`${name}\`†`))]).toEqual([name, true]);
    }
  });
});
