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
export function demoImages(): DemoImage[] {
  return [
    qcow2('ubuntu-24.04', 3),
    { ...rawGz(brokenLink.name, 3), expected: { phase: 'Succeeded', attempts: brokenLink.failures + 1 } },
    qcow2('debian-12', 2),
    qcow2Gz('rocky-9', 2.2),
    missing('centos-6'),
    overHttp('fedora-41', 2.4),
    qcow2('windows-2022', 4),
    rawGz('alpine-3.20', 3),
    qcow2Gz('kali-2024.3', 2),
    qcow2('freebsd-14', 1.6),
  ];
}

/** The image that lies in the store and has no VMDiskImage until a machine asks for it. */
export const lateImage = (): DemoImage => qcow2('nixos-25.05', 2);

/** The image of the lab, which the policy's template makes out of its name. */
export const labImage = (): DemoImage => qcow2('demo-vmdi', 2);

const succeeded = { phase: 'Succeeded', attempts: 1 } as const;
const inS3 = { sourceType: 's3', bucket: buckets.secret, expected: succeeded } as const;

const disk = (name: string, megabytes: number) =>
  qcow2Buffer({ virtualBytes: 1 << 30, dataBytes: megabytes * 1e6, seed: name });

const qcow2 = (name: string, megabytes: number): DemoImage => ({
  ...inS3,
  name,
  key: `${name}.qcow2`,
  content: disk(name, megabytes),
});

const qcow2Gz = (name: string, megabytes: number): DemoImage => ({
  ...inS3,
  name,
  key: `${name}.qcow2.gz`,
  content: gzipSync(disk(name, megabytes), { level: 1 }),
});

/** A raw disk, half of it empty. */
const rawGz = (name: string, megabytes: number): DemoImage => ({
  ...inS3,
  name,
  key: `${name}.img.gz`,
  content: gzipSync(Buffer.concat([seededBytes(name, 0, megabytes * 5e5), Buffer.alloc(megabytes * 5e5)]), {
    level: 1,
  }),
});

const overHttp = (name: string, megabytes: number): DemoImage => {
  const content = disk(name, megabytes);
  return {
    ...qcow2(name, 0),
    sourceType: 'http',
    bucket: buckets.open,
    content,
    checksum: `sha256:${createHash('sha256').update(content).digest('hex')}`,
  };
};

const missing = (name: string): DemoImage => ({
  ...inS3,
  name,
  key: `${name}.qcow2`,
  content: undefined,
  expected: { phase: 'Failed', attempts: 1, reason: 'NotFound' },
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
