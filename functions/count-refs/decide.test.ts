import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { at, aVMDiskImage, type ImageOptions, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine, type MachineOptions } from '../../test/support/builders/machines.ts';
import { aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';

const nowMs = start + 60_000;
const now = '2026-01-01T00:01:00Z';
/** An image that has come to its end. */
const taken = (status: VMDiskImageStatus = {}, more: ImageOptions = {}) =>
  aVMDiskImage({ status: { phase: 'Succeeded', ...status }, ...more });
const image = taken();

const reconcile = (
  machines: readonly VirtualMachine[],
  more: Partial<Observed> & { data?: Record<string, string> } = {},
) => {
  const { data = {}, ...rest } = more;
  return decide({
    nowMs,
    policy: parsePolicy({ data }),
    image,
    machines,
    workspaces: [],
    refusals: new Map(),
    ...rest,
  });
};

const counted = (count: number, by: string[] = []) => taken({ references: { count, by } });
const statusIn = (actions: readonly Action[]) => actions.find((action) => action.do === 'patchStatus')?.status;
const inWords = (actions: readonly Action[]) =>
  actions.map((action) => {
    if (action.do === 'apply') return `mark ${action.object.metadata.name}`;
    if (action.do === 'patchMetadata') return `let go ${action.of.metadata.name}`;
    return action.do;
  });
const named = (name: string, more: MachineOptions = {}) => aVirtualMachine({ name, ...more });
const many = (count: number, more: MachineOptions = {}) =>
  Array.from({ length: count }, (_, index) => named(`m-${String(index).padStart(4, '0')}`, more));

describe('the count', () => {
  test.each<[string, VirtualMachine[], Record<string, string>, number, string[]]>([
    ['without users is zero', [], {}, 0, []],
    ['names who uses the image, sorted', [named('b'), named('a')], {}, 2, ['lab/a', 'lab/b']],
    ['is without a machine that is being deleted', [named('a'), named('b', { deleted: true })], {}, 1, ['lab/a']],
    [
      'is without a machine in a namespace that may not name the image',
      [named('a', { spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'private' } } })],
      {},
      0,
      [],
    ],
    [
      'is without a machine of such a namespace that has a disk',
      [
        named('a', {
          spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'private' } },
          status: { rootDisk: { name: 'a-root', image: 'uid-ubuntu', revision: 1 } },
        }),
      ],
      {},
      0,
      [],
    ],
    [
      'has every machine while imageNamespaces does not parse',
      [named('a', { spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'private' } } })],
      { imageNamespaces: '' },
      1,
      ['lab/a'],
    ],
  ])('%s', (_, machines, data, count, by) => {
    expect(statusIn(reconcile(machines, { data }))?.references).toEqual({ count, by });
  });
  test('names the first twenty, however many there are', () => {
    const { references } = statusIn(reconcile(many(1000))) as { references: { count: number; by: string[] } };
    expect(references.count).toBe(1000);
    expect(references.by).toEqual(many(20).map(({ metadata }) => `lab/${metadata.name}`));
  });
  test.each([
    ['the same machines', [named('a')], counted(1, ['lab/a']), []],
    ['another machine', [named('b')], counted(1, ['lab/a']), ['patchStatus', 'requeue']],
    ['no image of that name', [named('a')], undefined, []],
  ])('with %s is written where it differs, and is then looked at once more', (_, machines, found, actions) => {
    expect(inWords(reconcile(machines, { image: found }))).toEqual(actions);
  });
});

test('an image that has not been queued is not written to, because that would cost it its place', () => {
  const fresh = aVMDiskImage();
  expect(inWords(reconcile([named('bare', { finalizers: [] })], { image: fresh }))).toEqual(['mark bare']);
  expect(reconcile([], { image: aVMDiskImage({ deleted: true }) })).not.toEqual([]);
});

describe('an unfinished image that was never used', () => {
  const queued = (status: VMDiskImageStatus = {}) => aVMDiskImage({ status: { phase: 'Queued', ...status } });
  test('is not counted before it has come to its end, and then once', () => {
    expect(reconcile([], { image: queued() })).toEqual([]);
    const counted = reconcile([], { image: taken({ phase: 'Failed' }) });
    expect(statusIn(counted)?.references).toEqual({ count: 0, by: [] });
    expect(inWords(counted)).toEqual(['patchStatus']);
  });
  test('is counted with its first machine, and when that goes', () => {
    expect(statusIn(reconcile([named('a')], { image: queued() }))?.references).toEqual({ count: 1, by: ['lab/a'] });
    const used = queued({ references: { count: 1, by: ['lab/a'] } });
    expect(statusIn(reconcile([], { image: used }))).toEqual({
      references: { count: 0, by: [] },
      unreferencedSince: now,
    });
  });
});

describe('the time since when an image is unused', () => {
  const since = at(5);
  test.each<[string, VirtualMachine[], Observed['image'], unknown]>([
    ['begins when it is first seen, however old it is', [], taken({}, { createdAfterSeconds: -9999 }), now],
    ['begins when the last machine goes', [named('a', { deleted: true })], counted(1, ['lab/a']), now],
    ['is over when a machine comes', [named('a')], taken({ unreferencedSince: since }), null],
    ['stays where another field is mended', [], taken({ unreferencedSince: since, references: { count: 3 } }), since],
  ])('%s', (_, machines, found, expected) => {
    expect(statusIn(reconcile(machines, { image: found }))?.unreferencedSince).toBe(expected);
  });
  test('is not written again', () => {
    const unused = taken({ unreferencedSince: since, references: { count: 0, by: [] } });
    expect(reconcile([], { image: unused })).toEqual([]);
  });
});

describe('the finalizer of a machine', () => {
  const bare = named('bare', { finalizers: [] });
  const going = named('going', { deleted: true, finalizers: ['other/one', 'pelotech.ot/image-reference'] });
  test('comes before the count and goes after it', () => {
    expect(inWords(reconcile([bare, going]))).toEqual(['mark bare', 'patchStatus', 'requeue', 'let go going']);
  });
  test('comes and goes where there is no image, too', () => {
    expect(inWords(reconcile([bare, going], { image: undefined }))).toEqual(['mark bare', 'let go going']);
  });
  test("leaves others' finalizers where they are", () => {
    expect(reconcile([going], { image: undefined })).toMatchObject([{ metadata: { finalizers: ['other/one'] } }]);
  });
  test('is not asked for twice, nor of a machine that is being deleted', () => {
    const found = [named('a'), named('b', { deleted: true, finalizers: ['other/one'] })];
    expect(inWords(reconcile(found, { image: undefined }))).toEqual([]);
  });
  test('that was refused is skipped, and the machine is still counted', () => {
    const refusals = new Map([
      [refusalKey(VirtualMachine, bare.metadata), { reason: 'Forbidden', message: 'a webhook' }],
    ]);
    const actions = reconcile([bare], { refusals });
    expect(inWords(actions)).toEqual(['patchStatus', 'requeue']);
    expect(statusIn(actions)?.references).toEqual({ count: 1, by: ['lab/bare'] });
  });
  test('comes to fifty machines a reconcile, and the image is looked at again for the others; all are counted at once', () => {
    const actions = reconcile(many(1000, { finalizers: [] }));
    expect(inWords(actions)).toContain('requeueAfter');
    expect(inWords(reconcile(many(50, { finalizers: [] })))).not.toContain('requeueAfter');
    expect(inWords(actions).filter((word) => word.startsWith('mark'))).toHaveLength(50);
    expect(statusIn(actions)).toMatchObject({ references: { count: 1000 } });
  });
  test('goes from fifty machines a reconcile, and the event is wanted again for the others', () => {
    const words = inWords(reconcile(many(51, { deleted: true })));
    expect(words.filter((word) => word.startsWith('let go'))).toHaveLength(50);
    expect(words.at(-1)).toBe('redeliver');
    expect(inWords(reconcile(many(50, { deleted: true }))).at(-1)).not.toBe('redeliver');
  });
});

describe('a workspace', () => {
  const lab = aWorkspace({ spec: { vms: [aMachineOf()] } });
  const byOf = (actions: readonly Action[]) => statusIn(actions)?.references;

  test('that waits for the image is a reference', () => {
    expect(byOf(reconcile([], { workspaces: [lab] }))).toEqual({ count: 1, by: ['Workspace lab'] });
  });
  test('is counted by its machines', () => {
    const machine = named('vm', { namespace: 'ws-lab' });
    expect(byOf(reconcile([machine], { workspaces: [lab] }))).toEqual({ count: 1, by: ['ws-lab/vm'] });
  });
  test.each([
    ['that is being deleted', aWorkspace({ spec: lab.spec, deleted: true }), {}],
    [
      'that holds another image of that name',
      aWorkspace({ spec: lab.spec, status: { images: [{ name: 'ubuntu', namespace: 'golden' }] } }),
      {},
    ],
    ['that the policy looks elsewhere for', lab, { imageNamespaces: 'golden' }],
  ])('%s is none', (_, workspace, data) => {
    expect(byOf(reconcile([], { workspaces: [workspace], data }))).toEqual({ count: 0, by: [] });
  });
  test('keeps the image it holds when the policy names other namespaces', () => {
    const holding = aWorkspace({ spec: lab.spec, status: { images: [{ name: 'ubuntu', namespace: 'vmdi-farm' }] } });
    expect(byOf(reconcile([], { workspaces: [holding], data: { imageNamespaces: 'golden' } }))).toMatchObject({
      count: 1,
    });
  });
  test('that is gone lets the image made for it be known as unused, even while that downloads', () => {
    const made = aVMDiskImage({ status: { phase: 'Syncing' }, labels: { 'pelotech.ot/made-for': 'workspaces' } });
    expect(statusIn(reconcile([], { image: made }))).toMatchObject({
      references: { count: 0 },
      unreferencedSince: now,
    });
    expect(statusIn(reconcile([], { image: aVMDiskImage({ status: { phase: 'Syncing' } }) }))).toBeUndefined();
  });
});
