import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { diskImageFinalizer, VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { allowedSources, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine, type MachineOptions } from '../../test/support/builders/machines.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';

const template = aVMDiskImage().spec;
const wanting = (spec: MachineOptions['spec'] = {}, more: MachineOptions = {}) =>
  aVirtualMachine({ ...more, spec: { vmDiskImageTemplate: template, ...spec } });
const bare = (more: MachineOptions = {}) => aVirtualMachine(more);
const farm = Namespace.parse({ metadata: { name: 'vmdi-farm' } });

const observe = ({ data = {}, ...more }: Partial<Observed> & { data?: Record<string, string> }): Observed => ({
  nowMs: start,
  policy: parsePolicy({ data: { allowedSources, ...data } }),
  ref: { name: 'ubuntu', namespace: 'vmdi-farm' },
  image: undefined,
  namespace: farm,
  machines: [wanting()],
  refusals: new Map(),
  ...more,
});
const reconcile = (more: Parameters<typeof observe>[0]) => decide(observe(more));
const made = (actions: readonly Action[]) => actions.filter((action) => action.do === 'create');
/** What each machine was told, in order: "demo True ImageFound". */
const told = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.do === 'apply' ? [told1(action)] : []));
const told1 = ({ object }: Action & { do: 'apply' }) => {
  const { conditions } = object.status as { conditions: { status: string; reason: string }[] };
  return `${object.metadata.name} ${conditions.map(({ status, reason }) => `${status} ${reason}`).join()}`;
};
const said = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.do === 'recordEvent' ? [`${action.type} ${action.reason}`] : []));
const conditionIn = (actions: readonly Action[]) =>
  JSON.stringify(actions.flatMap((action) => (action.do === 'apply' ? [action.object.status] : [])));
const messageIn = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.do === 'recordEvent' ? [action.message] : [])).join();

const succeeded: VMDiskImageStatus = {
  phase: 'Succeeded',
  snapshot: { name: 'ubuntu-1', revision: 1 },
  conditions: [{ type: 'Ready', status: 'True', reason: 'Synced', message: '', lastTransitionTime: at(0) }],
};
const resolved = (status: 'True' | 'False', reason: string) => ({
  conditions: [{ type: 'ImageResolved', status, reason, message: '', lastTransitionTime: at(-60) }],
});
const rootDisk = { name: 'demo-root', image: 'uid-ubuntu', revision: 1 };

describe('where the image is missing', () => {
  test('it is made from the template, held from the first moment, and says who asked', () => {
    const actions = reconcile({});
    expect(actions).toMatchObject([
      {
        do: 'create',
        resource: VMDiskImage,
        object: {
          metadata: {
            name: 'ubuntu',
            namespace: 'vmdi-farm',
            finalizers: ['pelotech.ot/disk-image'],
            labels: {
              'app.kubernetes.io/created-by': 'ensure-vmdi',
              'pelotech.ot/requested-by': 'demo',
              'pelotech.ot/requested-by-namespace': 'lab',
            },
          },
          spec: template,
        },
      },
      { do: 'apply', subresource: 'status', object: { metadata: { name: 'demo', namespace: 'lab', uid: 'uid-demo' } } },
    ]);
    expect(made(actions)[0]).not.toHaveProperty('object.metadata.ownerReferences');
    expect(told(actions)).toEqual(['demo True ImageFound']);
  });

  test('two hundred machines cause one image, from the template of the oldest; another template is a mismatch', () => {
    const others = Array.from({ length: 199 }, (_, index) =>
      wanting({ vmDiskImageTemplate: { ...template, diskSize: '8Gi' } }, { name: `m${index}`, createdAfterSeconds: 1 }),
    );
    const actions = reconcile({ machines: [...others, wanting({}, { name: 'first' })] });
    expect(made(actions)).toMatchObject([{ object: { spec: { diskSize: '24Gi' } } }]);
    expect(told(actions)).toHaveLength(200);
    expect(said(actions).filter((what) => what === 'Warning TemplateMismatch')).toHaveLength(199);
  });

  test('a machine that must not create it uses the image that another creates', () => {
    const strict = wanting({ mode: 'FailIfNotExist' }, { name: 'strict' });
    expect(told(reconcile({ machines: [strict, wanting()] }))).toEqual([
      'demo True ImageFound',
      'strict True ImageFound',
    ]);
  });

  test.each<[string, string, Parameters<typeof observe>[0], string]>([
    ['FailIfNotExist', 'ImageMissing', { machines: [wanting({ mode: 'FailIfNotExist' })] }, 'mode is FailIfNotExist'],
    ['no template', 'ImageMissing', { machines: [bare()] }, 'add a vmDiskImageTemplate'],
    ['no namespace', 'ImageNamespaceMissing', { namespace: undefined }, 'found none; make the namespace'],
    [
      'a namespace on its way out',
      'ImageNamespaceMissing',
      { namespace: Namespace.parse({ metadata: { name: 'vmdi-farm', deletionTimestamp: at(0) } }) },
      'being deleted',
    ],
    [
      'a namespace that is not allowed',
      'ImageNamespaceNotAllowed',
      { data: { imageNamespaces: 'golden farm' } },
      "one of the policy's imageNamespaces (golden, farm), found vmdi-farm",
    ],
    ['a policy that names none', 'InvalidPolicy', { data: { imageNamespaces: ' , ' } }, 'imageNamespaces: expected'],
    ['a policy without sources', 'InvalidPolicy', { data: { allowedSources: ',' } }, 'allowedSources: expected'],
    ['a source that is not allowed', 'SourceNotAllowed', { data: { allowedSources: 'https://h/*' } }, 'add the line'],
    [
      "a Secret for a url of one's own",
      'SourceNotAllowed',
      { machines: [wanting({ vmDiskImageTemplate: { ...template, url: 'https://images.example.com/k/v' } })] },
      'none that names Secret s3-reader',
    ],
    [
      'a refusal of the API server',
      'ImageRefused',
      {
        refusals: new Map([
          ['VMDiskImage vmdi-farm/ubuntu for lab', { reason: 'Forbidden', message: 'exceeded quota' }],
        ]),
      },
      'exceeded quota',
    ],
  ])('%s: nothing is made, reason %s', (_, reason, more, words) => {
    const actions = reconcile(more);
    expect(made(actions)).toEqual([]);
    expect(told(actions)).toEqual([`demo False ${reason}`]);
    expect(said(actions)).toEqual([]);
    expect(conditionIn(actions)).toContain(words);
  });

  test('a refusal of another kind of that name does not concern the image', () => {
    const refusal = { reason: 'Invalid', message: 'no' };
    expect(
      made(
        reconcile({
          refusals: new Map([
            ['ubuntu', refusal],
            ['VMDiskImage lab/ubuntu', refusal],
          ]),
        }),
      ),
    ).toHaveLength(1);
  });

  test('a machine in the namespace of the image needs no policy', () => {
    const machines = [wanting({}, { namespace: 'vmdi-farm' })];
    expect(told(reconcile({ machines, data: { imageNamespaces: ',' } }))).toEqual(['demo True ImageFound']);
  });

  test('one whose template is refused does not keep the next from making it', () => {
    const bad = wanting({ vmDiskImageTemplate: { ...template, url: 'https://x/y/z' } }, { name: 'a-bad' });
    const machines = [bad, wanting({}, { createdAfterSeconds: 1 })];
    const actions = reconcile({ machines });
    expect(made(actions)).toMatchObject([{ object: { metadata: { labels: { 'pelotech.ot/requested-by': 'demo' } } } }]);
  });

  test('a machine that is being deleted asks for nothing', () => {
    expect(reconcile({ machines: [wanting({}, { deleted: true })] })).toEqual([]);
  });
});

describe('if the image exists', () => {
  const image = aVMDiskImage();

  test.each<[string, Partial<VMDiskImage['spec']>, string]>([
    ['another url, whose query is not told', { url: 'https://h/b/k?X-Amz-Signature=abc' }, 'url (https://s3'],
    ['another size', { diskSize: '25Gi' }, 'diskSize (24Gi, not 25Gi)'],
    ['a field the image lacks', { name: 'Ubuntu' }, 'name (none, not Ubuntu)'],
    ['another class and another Secret', { storageClass: 'io2', secretRef: 'x' }, 'secretRef (s3-reader, not x)'],
  ])('it trumps a template with %s, and one Event names the field', (_, changes, words) => {
    const actions = reconcile({ image, machines: [wanting({ vmDiskImageTemplate: { ...template, ...changes } })] });
    expect(told(actions)).toEqual(['demo True ImageFound']);
    expect(actions.filter((action) => action.do === 'recordEvent')).toMatchObject([
      { reason: 'TemplateMismatch', once: '1' },
    ]);
    expect(messageIn(actions)).toContain(words);
    expect(messageIn(actions)).not.toContain('abc');
    expect(conditionIn(actions)).not.toContain('abc');
  });

  test.each<[string, Parameters<typeof aVMDiskImage>[0], MachineOptions['spec'], string]>([
    [
      'is another url',
      {},
      { vmDiskImageTemplate: { ...template, url: 'https://h.example/b/k' } },
      'False ImageNotAdopted',
    ],
    ['is the same url', {}, { vmDiskImageTemplate: { ...template, diskSize: '8Gi' } }, 'True ImageFound'],
    ['is none', {}, { vmDiskImageTemplate: undefined }, 'False ImageNotAdopted'],
    ['is none, in its own namespace', { namespace: 'lab' }, { vmDiskImageTemplate: undefined }, 'True ImageFound'],
  ])("an image of another author's template does not count where the machine's own %s", (_, more, spec, found) => {
    const others = aVMDiskImage({ labels: { 'app.kubernetes.io/created-by': 'ensure-vmdi' }, ...more });
    const actions = reconcile({ image: others, machines: [wanting(spec)] });
    expect(told(actions)).toEqual([`demo ${found}`]);
    expect(conditionIn(actions)).not.toContain('s3.eu-west-1');
  });

  test('the same size in other words is no difference, nor is a field the template leaves out', () => {
    const { name: _, ...rest } = template;
    const machines = [wanting({ vmDiskImageTemplate: { ...rest, diskSize: '24576Mi' } })];
    expect(said(reconcile({ image: aVMDiskImage({ spec: { name: 'Ubuntu' } }), machines }))).toEqual([]);
  });

  test('what was said is not said again, until the machine has another generation', () => {
    const machine = wanting({ vmDiskImageTemplate: { ...template, diskSize: '8Gi' } });
    const [first] = reconcile({ image, machines: [machine] });
    const status = (first as unknown as { object: { status: object } }).object.status;
    const again = (generation: number) =>
      reconcile({
        image,
        nowMs: start + 5000,
        machines: [{ ...machine, metadata: { ...machine.metadata, generation }, status }],
      });
    expect(again(1)).toEqual([]);
    expect(again(2)).toMatchObject([{ do: 'apply' }, { reason: 'TemplateMismatch', once: '2' }]);
    expect(again(2)[0]).toHaveProperty('object.status.conditions[0].lastTransitionTime', at(0).replace('.000Z', 'Z'));
  });

  test('a machine that waited for it continues', () => {
    expect(told(reconcile({ image, machines: [bare({ status: resolved('False', 'ImageMissing') })] }))).toEqual([
      'demo True ImageFound',
    ]);
  });

  test('a source that the policy forbids now matters to new images only', () => {
    expect(told(reconcile({ image, data: { allowedSources: 'https://h/*' } }))).toEqual(['demo True ImageFound']);
  });

  test.each<[string, MachineOptions, Record<string, string>, string]>([
    ['a namespace that is forbidden later', {}, { imageNamespaces: 'x' }, 'False ImageNamespaceNotAllowed'],
    ['the same with a disk', { status: { rootDisk } }, { imageNamespaces: 'x' }, 'False ImageNamespaceNotAllowed'],
    [
      'a policy that broke later',
      { status: resolved('True', 'ImageFound') },
      { imageNamespaces: ',' },
      'True ImageFound',
    ],
    ['a policy that was broken before', {}, { imageNamespaces: ',' }, 'False InvalidPolicy'],
  ])('%s', (_, machine, data, expected) => {
    expect(told(reconcile({ image, data, machines: [bare(machine)] }))).toEqual([`demo ${expected}`]);
  });
});

describe('where the image is gone under a machine that was let name it before', () => {
  // A user who may create DataVolumes can give a machine a disk before the policy is checked.
  test.each<[string, MachineOptions, Record<string, string>, string]>([
    [
      'its disk makes no image in a namespace that the policy does not name',
      { status: { rootDisk } },
      { imageNamespaces: 'x' },
      'ImageNamespaceNotAllowed',
    ],
    [
      'nor while the policy does not say which',
      { status: resolved('True', 'ImageFound') },
      { imageNamespaces: ',' },
      'InvalidPolicy',
    ],
  ])('%s', (_, machine, data, reason) => {
    const actions = reconcile({ data, machines: [wanting({}, machine)] });
    expect(made(actions)).toEqual([]);
    expect(told(actions)).toEqual([`demo False ${reason}`]);
  });
});

describe('where the image is being deleted', () => {
  const going = (status: VMDiskImageStatus = {}) => aVMDiskImage({ deleted: true, status });
  const withDisk = (status: 'True' | 'False'): MachineOptions => ({
    status: {
      rootDisk,
      conditions: [{ type: 'DiskReady', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });

  test.each<[string, VMDiskImage, MachineOptions, string, string]>([
    ['a machine with its disk continues', going(), withDisk('True'), 'True ImageFound', 'stays usable'],
    [
      'a machine whose disk is not cloned yet continues',
      going(succeeded),
      withDisk('False'),
      'True ImageFound',
      'usable',
    ],
    ['and waits if nothing is left to clone', going(), withDisk('False'), 'False ImageTerminating', 'again'],
    ['an earlier machine may still clone a usable snapshot', going(succeeded), {}, 'True ImageFound', 'stays usable'],
    ['an earlier machine waits if no snapshot exists', going(), {}, 'False ImageTerminating', 'creates it again'],
    [
      'a later machine waits',
      going(succeeded),
      { createdAfterSeconds: 5 },
      'False ImageTerminating',
      'waiting until it is gone',
    ],
  ])('%s', (_, image, machine, expected, words) => {
    const actions = reconcile({ image, machines: [wanting({}, machine)] });
    expect(told(actions)).toEqual([`demo ${expected}`]);
    expect(made(actions)).toEqual([]);
    expect(conditionIn(actions)).toContain(words);
    expect(said(actions)).toEqual([]);
  });

  test('an end that no fact will tell of is awaited, and only that', () => {
    const looks = (image: VMDiskImage, ...finalizers: string[]) =>
      reconcile({ image: { ...image, metadata: { ...image.metadata, finalizers } }, machines: [wanting()] }).filter(
        (action) => action.do === 'requeueAfter',
      );
    expect(looks(going(), diskImageFinalizer)).toEqual([]);
    expect(looks(going(), 'foregroundDeletion')).toMatchObject([{ about: { kind: 'VMDiskImage' } }]);
    // start-sync has not seen it yet.
    expect(looks(aVMDiskImage())).toMatchObject([{ about: { kind: 'VMDiskImage' } }]);
    expect(looks(aVMDiskImage(), diskImageFinalizer)).toEqual([]);
  });

  test('without a template it waits for another of that name', () => {
    const machines = [bare({ createdAfterSeconds: 5 })];
    expect(conditionIn(reconcile({ image: going(), machines }))).toContain('then for a new image of that name');
  });
});
