import { expect, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { allowedSources, aVMDiskImage } from '../../test/support/builders/images.ts';
import { decide, type Observed } from './decide.ts';

const data = {
  imageStorageClass: 'gp3',
  imageSnapshotClass: 'ebs-snapshot',
  imageSecretRef: 's3-reader',
  imageDiskSize: '24Gi',
  imageUrlTemplate: 'https://s3.eu-west-1.amazonaws.com/images/{name}/{version}/vm.qcow2',
};
const message = { id: 'e-1', type: 't', source: 'https://ci.example/42', time: '2026-01-01T00:00:10Z', data: {} };

function reconcile(more: Partial<Observed> & { data?: Record<string, string> } = {}) {
  const { data: policyData = data, ...rest } = more;
  const policyMap = ConfigMap.parse({
    metadata: { name: 'sync-operator-policy', namespace: 'sync-operator' },
    data: policyData,
  });
  return decide({
    nowMs: Date.parse('2026-01-01T00:01:00Z'),
    policy: parsePolicy({ data: policyData }),
    policyMap,
    image: undefined,
    message,
    published: { name: 'ubuntu', version: '2.1.0' },
    refusals: new Map(),
    ...rest,
  });
}

test('namespace, Secret, classes and size come from the policy, the url from its template', () => {
  expect(reconcile()).toMatchObject([
    {
      do: 'apply',
      object: {
        metadata: { name: 'ubuntu', namespace: 'vmdi-farm', finalizers: ['pelotech.ot/disk-image'] },
        spec: {
          url: 'https://s3.eu-west-1.amazonaws.com/images/ubuntu/2.1.0/vm.qcow2',
          sourceType: 's3',
          storageClass: 'gp3',
          snapshotClass: 'ebs-snapshot',
          secretRef: 's3-reader',
          diskSize: '24Gi',
        },
      },
    },
  ]);
});
test('the Secret is named for S3 only', () => {
  const [action] = reconcile({
    published: { name: 'ubuntu', url: 'https://mirror.example/u.img', sourceType: 'http' },
  });
  expect(action).not.toHaveProperty('object.spec.secretRef');
});
const requested = (actions: ReturnType<typeof reconcile>) =>
  (actions[0] as unknown as { object: { metadata: { annotations: Record<string, string> } } }).object.metadata
    .annotations['pelotech.ot/published-content'];
test('the same event asks for the same sync, another event for another', () => {
  expect(requested(reconcile())).toBe(requested(reconcile()));
  expect(requested(reconcile({ message: { ...message, id: 'e-2' } }))).not.toBe(requested(reconcile()));
});
test('the same digest asks for no second download', () => {
  const published = { name: 'ubuntu', version: '1', digest: 'sha256:abc' };
  expect(requested(reconcile({ published, message: { ...message, id: 'e-2' } }))).toBe(
    requested(reconcile({ published })),
  );
});
test.each([
  ['an older event that comes late', message.time, 'not after 2026-01-01T00:00:11Z'],
  ['an event of next year', '2027-01-01T00:00:00Z', 'in the future'],
])('%s changes nothing, and is reported', (_, time, words) => {
  const image = aVMDiskImage({ annotations: { 'pelotech.ot/published-at': '2026-01-01T00:00:11Z' } });
  const [action, ...others] = reconcile({ image, message: { ...message, time } });
  expect(action).toMatchObject({ do: 'recordEvent', reason: 'PublishedImageNotMade' });
  expect([JSON.stringify(action), others]).toEqual([expect.stringContaining(words), []]);
});
test('the same event again changes nothing, and is not reported', () => {
  const annotations = {
    'pelotech.ot/published-at': message.time,
    'pelotech.ot/published-content': requested(reconcile()) ?? '',
  };
  expect(reconcile({ image: aVMDiskImage({ annotations }) })).toEqual([]);
});
test('what a stranger posts is reported once, and does nothing', () => {
  const stranger = { kind: 'Unsigned', message: 'it is not signed' } as const;
  expect([reconcile({ stranger }), reconcile({ stranger, message: { ...message, id: 'e-2' } })]).toMatchObject(
    [1, 2].map(() => [{ do: 'recordEvent', reason: 'PublisherNotAuthenticated', once: 'Unsigned' }]),
  );
});
test('it takes over what a template made, and nothing else', () => {
  const force = (labels: Record<string, string>) =>
    reconcile({ image: aVMDiskImage({ labels }) }).map((action) => 'force' in action && action.force);
  expect(force({ 'app.kubernetes.io/created-by': 'ensure-vmdi' })).toEqual([true]);
  expect(force({ 'app.kubernetes.io/created-by': 'preload' })).toEqual([false]);
  expect(force({})).toEqual([false]);
});
test('a url needs a line of allowedSources, and that of the policy none', () => {
  const published = { name: 'ubuntu', url: 'https://s3.eu-west-1.amazonaws.com/images/u.img' };
  expect(JSON.stringify(reconcile({ published }))).toContain(
    'add the line \\"https://s3.eu-west-1.amazonaws.com/images/** s3-reader\\"',
  );
  expect(reconcile({ published, data: { ...data, allowedSources } })).toMatchObject([{ do: 'apply' }]);
});
test.each([
  [
    'a namespace the policy does not allow',
    { published: { name: 'u', version: '1', namespace: 'kube-system' } },
    'imageNamespaces',
  ],
  ['no StorageClass in the policy', { data: { ...data, imageStorageClass: '' } }, 'imageStorageClass'],
  ['no version where the template asks for one', { published: { name: 'u' } }, 'version'],
  [
    'neither url nor template',
    { data: { imageStorageClass: 'a', imageSnapshotClass: 'b', imageDiskSize: '1Gi' }, published: { name: 'u' } },
    'imageUrlTemplate',
  ],
  ['no size', { data: { ...data, imageDiskSize: '' } }, 'imageDiskSize'],
  ['an image that is being deleted', { image: aVMDiskImage({ deleted: true }) }, 'deleted'],
  [
    'a spec that another manager owns',
    {
      refusals: new Map([['VMDiskImage vmdi-farm/ubuntu', { reason: 'Conflict', message: 'conflict with "kubectl"' }]]),
    },
    'conflict with "kubectl". Delete the image, or the fields that the message names, and publish again; a hand-made image stays the person’s.',
  ],
])('%s creates nothing and reports it', (_, more, word) => {
  const actions = reconcile(more as Partial<Observed>);
  expect(actions).toMatchObject([{ do: 'recordEvent', type: 'Warning' }]);
  expect((actions[0] as { message: string }).message).toContain(word);
});
