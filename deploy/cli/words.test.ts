import { expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { at, aVMDiskImage } from '../../test/support/builders/images.ts';
import { aKupenStackMachine, aVolume } from '../../test/support/builders/openstack.ts';
import { formatSpan } from './age.ts';
import { type Command, loaded } from './command.ts';
import { readCommandLine, retyped } from './command-line.ts';
import { commandOf, commands } from './commands.ts';
import { helpOf, overview } from './help.ts';
import { nearestOf } from './nearest.ts';
import { settingOf } from './policy.ts';
import { publicationOf, refusalOf } from './preload.ts';
import { progressOf } from './progress.ts';
import { refusalToRetry } from './retry.ts';
import { readNamed } from './target.ts';
import { ended, progressBar } from './wait.ts';

test.each([
  [['ubuntu'], undefined, { name: 'ubuntu' }],
  [['image/ubuntu'], undefined, { kind: 'image', name: 'ubuntu' }],
  [['vmdi', 'ubuntu'], 'farm', { kind: 'image', namespace: 'farm', name: 'ubuntu' }],
  [['machine/lab/vm'], undefined, { kind: 'machine', namespace: 'lab', name: 'vm' }],
  [['lab/vm'], undefined, { namespace: 'lab', name: 'vm' }],
  [['virtualmachine', 'vm'], undefined, { kind: 'machine', name: 'vm' }],
  [['virtualmachines.kupenstack.io/vm'], undefined, { kind: 'virtualmachine.kupenstack.io', name: 'vm' }],
  [['virtualmachine.k/lab/vm'], undefined, { kind: 'virtualmachine.kupenstack.io', namespace: 'lab', name: 'vm' }],
  [['virtualn', 'net'], undefined, { kind: 'virtualnetwork', name: 'net' }],
  [['vol/lab/disk'], undefined, { kind: 'volume', namespace: 'lab', name: 'disk' }],
  [['volu/disk'], undefined, { namespace: 'volu', name: 'disk' }],
])('%j names one object', (parts, namespace, named) => {
  expect(readNamed(parts, namespace)).toEqual(named);
});

test.each([[[]], [['a', 'b']], [['image/']], [['a/b/c/d']], [['image', 'a', 'b']]])('%j names none', (parts) => {
  expect(() => readNamed(parts, undefined)).toThrow(/expected NAME or KIND\/NAME/);
});

test.each([
  [['vm/demo'], /^expected machine, or virtualmachine\.kupenstack\.io .*-n vm$/],
  [
    ['virtualmachines.', 'demo'],
    /^expected one kind, found virtualmachines\., a prefix of machine and virtualmachine\.k/,
  ],
  [['virtual', 'demo'], /a prefix of machine and virtualnetwork and virtualmachine\.kupenstack\.io$/],
])('%j may mean more than one kind', (parts, says) => {
  expect(() => readNamed(parts, undefined)).toThrow(says);
});

test('a namespace is given once', () => {
  expect(() => readNamed(['lab/vm'], 'farm')).toThrow('expected one namespace, found lab and --namespace farm');
  expect(() => readNamed(['vmdii/ubuntu'], 'farm')).toThrow('found vmdii and --namespace farm; was vmdi meant?');
});

test('a misspelt word is understood, another word is not', () => {
  expect(nearestOf('concurency', ['concurrency', 'prune'])).toBe('concurrency');
  expect(nearestOf('wyh', ['wait', 'why'])).toBe('why');
  expect(nearestOf('snapshot', ['concurrency', 'prune'])).toBeUndefined();
  expect([10_000, 600_000, 9e6, 9e8].map(formatSpan)).toEqual(['10s', '10m', '3h', '10d']);
});

const publication = (words: string[], options: Record<string, string> = {}) =>
  publicationOf({ words, namespace: undefined, text: (name) => options[name] });

test('a publication is the event that a pipeline would post; an invalid one is not posted', () => {
  expect(publication(['debian-12'], { version: '12.5', 'disk-size': '24Gi' })).toEqual({
    name: 'debian-12',
    version: '12.5',
    diskSize: '24Gi',
  });
  expect(() => publication(['Not_A'])).toThrow(/^NAME: expected lower-case.*found "Not_A"$/);
  expect(() => publication(['a'], { 'disk-size': 'big' })).toThrow(/^--disk-size: expected a size such as 24Gi/);
  expect(() => publication([])).toThrow('expected the name of one image, found nothing');
});

const classes = { imageStorageClass: 'gp3', imageSnapshotClass: 'ebs' };
const byName = { imageUrlTemplate: 'https://images.example/{name}/{version}.qcow2' };

test.each([
  [{}, {}, /^expected --url URL, or imageUrlTemplate/],
  [{ url: 'https://one.example/a/b' }, {}, /^expected --disk-size SIZE, or imageDiskSize/],
  [{}, { ...classes, ...byName }, /^expected --version V, .* or --url URL/],
  [{ version: '1' }, { ...byName, imageDiskSize: '1Gi' }, /^expected the policy to name imageStorageClass/],
  [{}, { ...classes, pruneAfter: 'x', imageUrlTemplate: 'x' }, /^expected the policy's imageUrlTemplate to parse/],
  [{ version: '1' }, { ...classes, ...byName, imageDiskSize: '1Gi' }, /^taken$/],
])('a refusal of %j with the policy %j first names the option to add', (said, data, says) => {
  const published = publication(['debian-12'], said);
  expect(refusalOf(published, parsePolicy({ data })) ?? 'taken').toMatch(says);
});

test('a retry that would change nothing is refused', () => {
  expect(refusalToRetry(aVMDiskImage())).toBeUndefined();
  expect(refusalToRetry(aVMDiskImage({ deleted: true }))).toContain('is being deleted');
  const adopting = aVMDiskImage({ annotations: { 'pelotech.ot/adopt-snapshot': 'golden' } });
  expect(refusalToRetry(adopting)).toContain('kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/adopt-snapshot-');
});

test('an outdated status does not end the wait', () => {
  const image = (digest?: string) =>
    aVMDiskImage({ status: { phase: 'Failed', message: 'No.', ...(digest ? { contentDigest: digest } : {}) } });
  expect(progressOf(image('of-before')).end).toBeUndefined();
  expect(progressOf(image(contentDigest(image()))).end).toBe('failed');
  expect(ended(image('of-before'), true, 90_000)).toMatchObject({ code: 124, json: { result: 'late' } });
  expect(ended(image(), false, 1)).toMatchObject({ code: 1, json: { result: 'failed' } });
});

test('an OpenStack object is done when it is Ready, and its booleans are no progress', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Any', message: '', lastTransitionTime: at(0) } as const;
  const volume = (status: Parameters<typeof aVolume>[0] & object) => progressOf(aVolume(status));
  expect(volume({ status: { phase: 'InUse', ready: true, conditions: [ready] } })).toMatchObject({
    end: 'ready',
    share: undefined,
  });
  expect(
    volume({ status: { phase: 'Available', ready: true, conditions: [{ ...ready, status: 'False' }] } }),
  ).toMatchObject({ end: undefined });
  const changed = aKupenStackMachine({
    generation: 2,
    status: { phase: 'Stopped', observedGeneration: 1, conditions: [ready] },
  });
  expect(progressOf(changed).end).toBeUndefined();
  expect(progressOf(aKupenStackMachine({ status: { phase: 'Failed' } })).end).toBe('failed');
});

test('an object in progress has a bar if its progress is known', () => {
  const image = aVMDiskImage({
    status: { phase: 'Syncing', startedAt: at(0), progress: '50.00%', message: 'Downloading.' },
  });
  expect(progressBar(image, progressOf(image))).toBe(
    '██████████░░░░░░░░░░ 50%  VMDiskImage vmdi-farm/ubuntu: Syncing: Downloading.',
  );
});

test('help names every command with examples', async () => {
  const all = await Promise.all(commands.map(loaded));
  for (const command of all) {
    expect(overview(commands, 'ot-functions')).toContain(`  ${command.name} `);
    expect(helpOf(command, 'kubectl ot')).toContain(`\n  kubectl ot ${command.examples[0]}`);
  }
});

const typed = async (name: string, ...args: string[]) => {
  const command = await commandOf(name);
  if (!command) throw new Error(`expected a command, found ${name}`);
  return readCommandLine(command, args, 'ot-functions');
};

test.each([
  [
    ['pause', 'now'],
    /^expected nothing but options, found now; ot-functions pause is about the whole cluster: leave that/,
  ],
  [['resume', 'ubuntu'], /found ubuntu; ot-functions resume/],
  [['queue', 'a', 'b'], /found a b; ot-functions queue/],
  [['doctor', 'foo'], /found foo; ot-functions doctor/],
  [['pause', '-n', 'farm'], /^Unknown option '-n'; expected --off, --output, .*\(see ot-functions pause --help\)$/],
  [
    ['policy', '--namespace', 'farm'],
    /^Unknown option '--namespace'; expected \[set KEY VALUE \| unset KEY\], --output/,
  ],
])('%j has an argument that the command does not take', async ([name = '', ...args], says) => {
  await expect(typed(name, ...args)).rejects.toThrow(says);
});

test.each([
  ['why', ['vmdi/ubuntu'], 'why image/farm/ubuntu'],
  ['keep', ['-n', 'default', 'ubuntu', '--off'], 'keep image/farm/ubuntu --off'],
  [
    'wait',
    ['vmdi', '30m', '--timeout', '30m', '--namespace=x', '--context=lab'],
    'wait image/farm/ubuntu --timeout 30m --context lab',
  ],
])('%s %j is typed again with what was meant in place of the name', async (name, args, again) => {
  expect(retyped((await commandOf(name)) as Command, args, 'image/farm/ubuntu')).toBe(`ot-functions ${again}`);
});

test('a negative number is a value, which its command refuses', async () => {
  expect((await typed('policy', 'set', 'concurrency', '-1')).words).toEqual(['set', 'concurrency', '-1']);
  expect(() => settingOf(['concurrency', '-1'])).toThrow(
    /^concurrency: expected .*, found "?-1"?.*; nothing was changed$/,
  );
  expect((await typed('cost', '--since', '-1d')).found.since).toBe('-1d');
});

test('commands about namespaced objects accept and offer --namespace', async () => {
  const narrowed = ['status', 'why', 'wait', 'preload', 'retry', 'keep'];
  for (const command of await Promise.all(commands.map(loaded)))
    expect(helpOf(command, 'ot').includes('-n, --namespace NS')).toBe(narrowed.includes(command.name));
  expect(await typed('status', 'image', 'ubuntu', '-n', 'farm')).toMatchObject({
    words: ['image', 'ubuntu'],
    found: { namespace: 'farm' },
  });
  expect(await typed('pause', 'now', '--help')).toMatchObject({ found: { help: true } });
});
