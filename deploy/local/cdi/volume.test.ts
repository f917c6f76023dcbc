import { expect, test } from 'vitest';
import { Claim, PersistentVolume, StorageClass } from '../controller/kinds.ts';
import { provisioned } from './volume.ts';

const gp3 = StorageClass.parse({ metadata: { name: 'gp3' }, provisioner: 'ebs.csi.aws.com' });
const claim = (namespace: string, volumeMode: string) =>
  Claim.parse({
    metadata: { name: 'data', namespace, uid: 'c1', resourceVersion: '1' },
    spec: { accessModes: ['ReadWriteOnce'], volumeMode, resources: { requests: { storage: '1Gi' } } },
  });

const sourceOf = (namespace: string, volumeMode: string, foldersBelow?: string) => {
  const [made] = provisioned(claim(namespace, volumeMode), gp3, foldersBelow ? { foldersBelow } : {});
  expect(made).toMatchObject({ do: 'create', resource: PersistentVolume });
  const { spec } = (made as unknown as { object: { spec: Record<string, unknown> } }).object;
  return { hostPath: spec.hostPath, isOfDriver: spec.csi !== undefined };
};

test('a volume is of the driver that is simulated', () => {
  expect(sourceOf('ws-lab', 'Filesystem')).toEqual({ hostPath: undefined, isOfDriver: true });
});

test('where folders are asked for, those of workspaces are folders of the node that a kubelet can mount', () => {
  expect(sourceOf('ws-lab', 'Filesystem', '/tmp/volumes')).toEqual({
    hostPath: { path: '/tmp/volumes/pvc-c1', type: 'DirectoryOrCreate' },
    isOfDriver: false,
  });
});

test.each([
  ['ws-lab', 'Block'],
  ['lab', 'Filesystem'],
])('all others, such as that of a claim in %s with mode %s, stay as they are', (namespace, volumeMode) => {
  expect(sourceOf(namespace, volumeMode, '/tmp/volumes')).toEqual({ hostPath: undefined, isOfDriver: true });
});
