import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';

/** Writes a Helm chart of one image, as users have it in a chart of theirs, to that folder. */
export async function writeImageChart(folder: string, name: string, url: string): Promise<void> {
  const image = {
    apiVersion: VMDiskImage.apiVersion,
    kind: VMDiskImage.kind,
    metadata: { name },
    spec: { storageClass: 'gp3', snapshotClass: 'ebs-snapshot', secretRef: 's3-reader', url, diskSize: '64Mi' },
  };
  await mkdir(join(folder, 'templates'), { recursive: true });
  await writeFile(join(folder, 'Chart.yaml'), stringify({ apiVersion: 'v2', name, version: '0.1.0' }));
  await writeFile(join(folder, 'templates/image.yaml'), stringify(image));
}
