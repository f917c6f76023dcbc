import { expect, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { policyRef } from '../../shared/policy.ts';
import { aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { aKupenStackMachine } from '../../test/support/builders/openstack.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import type { Call } from './command.ts';
import { commandOf } from './commands.ts';
import { before } from './pause.ts';

/** A cluster in memory with this policy, the image ubuntu and no workloads, and what a command answers there. */
async function clusterWith(data: Record<string, string>, version?: object) {
  const kube = memoryKube();
  await kube.create(ConfigMap, { metadata: policyRef, data });
  await kube.create(VMDiskImage, aVMDiskImage());
  const cluster: Call['cluster'] = async () => ({
    kube,
    namespace: 'vmdi-farm',
    read: async () => version,
    say: () => undefined,
    timeoutMs: 0,
  });
  const answer = async (name: string, ...words: string[]) => answerIn(undefined, name, ...words);
  const answerIn = async (namespace: string | undefined, name: string, ...words: string[]) => {
    const command = await commandOf(name);
    const call = { words, namespace, cluster, nowMs: start, is: () => false, text: () => undefined };
    return (await command?.run(call as unknown as Call))?.lines;
  };
  return { kube, answer, answerIn };
}

test.each([
  ['the queue is paused', { concurrency: '0' }, /^Nothing starts: the queue is paused .*: ot-functions resume$/],
  ['the policy does not parse', { syncTimeout: 'long' }, /the policy does not parse.*policy set syncTimeout VALUE$/],
])('a retry says what it waits for: %s', async (_, data, says) => {
  const asked = expect.stringMatching(/^VMDiskImage vmdi-farm\/ubuntu will be downloaded again\./);
  expect(await (await clusterWith(data)).answer('retry', 'ubuntu')).toEqual([asked, expect.stringMatching(says)]);
  expect(await (await clusterWith({})).answer('retry', 'ubuntu')).toEqual([asked]);
});

test.each([
  ['set concurrency 2', 'concurrency is 2 (before: 0). This ends the pause.', '2'],
  ['unset concurrency', 'concurrency is no longer set; the default holds: 4. This ends the pause.', undefined],
  ['set syncTimeout 6h', 'syncTimeout is 6h (before: not set).', '0'],
  ['set concurrency 0', 'concurrency is 0 (as before).', '0'],
])(
  'policy %s during a pause says whether that ends it; what was before it is forgotten then',
  async (words, says, concurrency) => {
    const { kube, answer } = await clusterWith({ concurrency: '4' });
    await answer('pause');
    expect(await answer('policy', ...words.split(' '))).toEqual([says]);
    const after = await kube.get(ConfigMap, policyRef);
    expect(after?.data?.concurrency).toBe(concurrency);
    expect(after?.metadata.annotations?.[before]).toBe(concurrency === '0' ? '4' : undefined);
  },
);

test('policy set says which namespaces do not exist, and what may have been meant', async () => {
  const { kube, answer } = await clusterWith({});
  await kube.create(Namespace, { metadata: { name: 'vmdi-farm' } });
  expect(await answer('policy', 'set', 'imageNamespaces', 'vmdi-farm,vmdi-fram,golden')).toEqual([
    'imageNamespaces is vmdi-farm,vmdi-fram,golden (before: not set).',
    'There is no namespace vmdi-fram; was vmdi-farm meant?',
    'There is no namespace golden yet.',
  ]);
});

test.each(['set imageNamespaces golden', 'unset imageNamespaces'])(
  'policy %s says which images machines of other namespaces no longer keep, and how they would again',
  async (words) => {
    const { kube, answer } = await clusterWith({ imageNamespaces: 'farm,golden' });
    for (const name of ['farm', 'golden', 'vmdi-farm']) await kube.create(Namespace, { metadata: { name } });
    const rootDisk = { name: 'x-root', image: 'uid', revision: 1 };
    const machine = (name: string, namespace: string, status = {}) =>
      aVirtualMachine({ name, namespace, status, spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'farm' } } });
    const machines = [machine('a', 'lab', { rootDisk }), machine('b', 'farm', { rootDisk }), machine('c', 'lab')];
    for (const one of machines) await kube.create(VirtualMachine, one);
    expect(await answer('policy', 'set', 'imageNamespaces', 'farm,golden')).toHaveLength(1);
    const [, ...says] = (await answer('policy', ...words.split(' '))) ?? [];
    expect(says).toEqual([
      expect.stringMatching(
        /^farm is not in imageNamespaces, .*\(1: lab\/a\).* imageNamespaces (golden|vmdi-farm),farm$/,
      ),
    ]);
  },
);

test.each([
  [
    'a local cluster',
    { platform: 'local' },
    ['functions of the cluster: those of its checkout, in the process of npm start'],
  ],
  ['another', { platform: 'linux/amd64' }, []],
  ['one that tells no version', undefined, []],
])('the version of functions that run as no workload is not "none": %s', async (_, version, lines) => {
  const [own, ...more] = (await (await clusterWith({}, version)).answer('version')) ?? [];
  expect(own).toMatch(/^ot-functions \d/);
  expect(more).toEqual(lines);
});

test('what has the name in one other namespace is what was meant; of several the user has to choose', async () => {
  const { kube, answerIn } = await clusterWith({});
  for (const name of ['default', 'lab']) await kube.create(Namespace, { metadata: { name } });
  const missing = { message: 'expected image ubuntu in namespace default, found image/vmdi-farm/ubuntu' };
  await expect(answerIn('default', 'why', 'vmdi/ubuntu')).rejects.toMatchObject({
    ...missing,
    meant: 'image/vmdi-farm/ubuntu',
  });
  await kube.create(VMDiskImage, aVMDiskImage({ namespace: 'lab' }));
  const several = { message: `${missing.message}, image/lab/ubuntu; name one of these`, meant: undefined };
  await expect(answerIn('default', 'why', 'vmdi/ubuntu')).rejects.toMatchObject(several);
});

test.each([
  ['machine/web', 'machine web', KupenStackMachine, aKupenStackMachine, 'virtualmachine.kupenstack.io/lab/web'],
  ['virtualmachine.k/web', 'virtualmachine.kupenstack.io web', VirtualMachine, aVirtualMachine, 'machine/lab/web'],
])('%s, of which only the other kind of machine exists, names that kind', async (typed, sought, kind, build, meant) => {
  const { kube, answerIn } = await clusterWith({});
  await kube.create(Namespace, { metadata: { name: 'lab' } });
  await kube.create<KubernetesObject>(kind, build({ name: 'web', namespace: 'lab' }));
  await expect(answerIn('lab', 'why', typed)).rejects.toMatchObject({
    message: `expected ${sought} in namespace lab, found ${meant}`,
    meant,
  });
});

test('status vm is refused as a kind of KubeVirt, not looked up as a name', async () => {
  const { answer } = await clusterWith({});
  await expect(answer('status', 'vm')).rejects.toThrow(
    /^expected machine, .* found vm, .* of that name .*machine\/vm$/,
  );
});

test.each(['vmdk', 'imags'])('status %s, a misspelt kind, asks whether the kind was meant', async (word) => {
  const { kube, answer } = await clusterWith({});
  await kube.create(Namespace, { metadata: { name: 'vmdi-farm' } });
  await expect(answer('status', word)).rejects.toThrow(/found none; was (vmdi|images?) meant\?$/);
});
