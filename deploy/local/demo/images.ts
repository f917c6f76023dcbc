import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Phase, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { qcow2Buffer } from '../object-store/qcow2.ts';
import { seededBytes } from '../object-store/seeded-bytes.ts';

/** One image of the demo: what lies in the object store, and how its download has to end. */
export interface DemoImage {
  name: string;
  sourceType: 's3' | 'http';
  bucket: string;
  key: string;
  /** Absent where the object is missing. */
  content: Buffer | undefined;
  checksum?: string;
  expected: { phase: Phase; attempts: number; reason?: string };
}

/** Buckets: one that needs the key pair of the Secret, one that anybody may read. */
export const buckets = { secret: 'images', open: 'public' } as const;

/** The download that breaks at this share of its bytes, until that many attempts have failed. */
export const brokenLink = { name: 'opnsense-24', fraction: 0.4, failures: 2 } as const;

/** The images in the order in which they are applied. */
export const demoImages = (): DemoImage[] => [
  stored('ubuntu-24.04', 'qcow2', 3),
  stored(brokenLink.name, 'img.gz', 3, { expected: { phase: 'Succeeded', attempts: brokenLink.failures + 1 } }),
  stored('debian-12', 'qcow2', 2),
  stored('rocky-9', 'qcow2.gz', 2.2),
  stored('centos-6', 'qcow2', 0, {
    content: undefined,
    expected: { phase: 'Failed', attempts: 1, reason: 'NotFound' },
  }),
  withChecksum(stored('fedora-41', 'qcow2', 2.4, { sourceType: 'http', bucket: buckets.open })),
  stored('windows-2022', 'qcow2', 4),
  stored('alpine-3.20', 'img.gz', 3),
  stored('kali-2024.3', 'qcow2.gz', 2),
  stored('freebsd-14', 'qcow2', 1.6),
];

/** The image that lies in the store and has no VMDiskImage until a machine asks for it. */
export const lateImage = (): DemoImage => stored('nixos-25.05', 'qcow2', 2);

/** The image of the lab, which the policy's template makes out of its name. */
export const labImage = (): DemoImage => stored('demo-vmdi', 'qcow2', 2);

const disk = (seed: string, megabytes: number) =>
  qcow2Buffer({ virtualBytes: 1 << 30, dataBytes: megabytes * 1e6, seed });

const contents = {
  qcow2: disk,
  'qcow2.gz': (name: string, megabytes: number) => gzipSync(disk(name, megabytes), { level: 1 }),
  /** A raw disk, half of it empty. */
  'img.gz': (name: string, megabytes: number) =>
    gzipSync(Buffer.concat([seededBytes(name, 0, megabytes * 5e5), Buffer.alloc(megabytes * 5e5)]), { level: 1 }),
};

const stored = (name: string, format: keyof typeof contents, megabytes: number, more: Partial<DemoImage> = {}) => ({
  name,
  sourceType: 's3' as const,
  bucket: buckets.secret,
  key: `${name}.${format}`,
  content: contents[format](name, megabytes),
  expected: { phase: 'Succeeded' as const, attempts: 1 },
  ...more,
});

const withChecksum = (image: DemoImage): DemoImage => ({
  ...image,
  checksum: `sha256:${createHash('sha256')
    .update(image.content ?? '')
    .digest('hex')}`,
});

/** Where the images of the demo are, and how they are got. */
export interface Where {
  namespace: string;
  storeUrl: string;
  secretName: string;
}

/** The manifest a user would write for it. */
export const manifestOf = (image: DemoImage, where: Where) =>
  ({
    apiVersion: 'pelotech.ot/v1alpha1',
    kind: 'VMDiskImage',
    metadata: { name: image.name, namespace: where.namespace },
    spec: specOf(image, where),
  }) as unknown as KubernetesObject;

/** The spec of its VMDiskImage, which is also the template that a machine gives. */
export const specOf = (image: DemoImage, where: Omit<Where, 'namespace'>): VMDiskImage['spec'] => ({
  name: image.name,
  url: `${where.storeUrl}/${image.bucket}/${image.key}`,
  sourceType: image.sourceType,
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  diskSize: '2Gi',
  ...(image.sourceType === 's3' ? { secretRef: where.secretName } : {}),
  ...(image.checksum ? { checksum: image.checksum } : {}),
});
