import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse, parseDocument } from 'yaml';
import { imageParts } from '../image/image-name.ts';
import { type Entry, tarGzipOf, tarOf } from './archive.ts';
import { filesIn } from './manifest-files.ts';

const root = new URL('../../', import.meta.url);
const folder = 'deploy/production/chart';

/** The Helm chart as `helm package` makes it, with that version and image. */
export async function chartArchive(version: string, image: string, atS: number): Promise<Buffer> {
  const names = await filesIn(folder);
  const entries = names.map(async (name): Promise<Entry> => {
    const inChart = name.slice(folder.length + 1);
    const text = await readFile(new URL(name, root), 'utf8');
    return { name: `ot-functions/${inChart}`, content: released(inChart, text, version, image) };
  });
  const license = { name: 'ot-functions/LICENSE', content: await readFile(new URL('LICENSE', root)) };
  return tarGzipOf([...(await Promise.all(entries)), license], atS);
}

function released(name: string, text: string, version: string, image: string): string {
  const values: [path: string[], value: string][] =
    name === 'Chart.yaml'
      ? [
          [['version'], version],
          [['appVersion'], version],
        ]
      : name === 'values.yaml' || name === 'values-production.yaml'
        ? Object.entries(imageParts(image)).map(([part, value]) => [['image', part], value])
        : [];
  if (values.length === 0) return text;
  const document = parseDocument(text);
  for (const [path, value] of values) document.setIn(path, value);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** The chart as an OCI image layout in a tar archive, as registries hold charts: `oras cp --from-oci-layout FILE:VERSION …` uploads it. */
export async function chartLayout(chart: Buffer, version: string, atS: number): Promise<Buffer> {
  const definition = parse(await readFile(new URL(`${folder}/Chart.yaml`, root), 'utf8')) as Record<string, string>;
  const config = json({ ...definition, version, appVersion: version });
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptorOf('application/vnd.cncf.helm.config.v1+json', config),
    layers: [descriptorOf('application/vnd.cncf.helm.chart.content.v1.tar+gzip', chart)],
    annotations: {
      'org.opencontainers.image.created': new Date(atS * 1000).toISOString(),
      'org.opencontainers.image.title': definition.name,
      'org.opencontainers.image.version': version,
    },
  });
  const index = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...descriptorOf('application/vnd.oci.image.manifest.v1+json', manifest),
        annotations: { 'org.opencontainers.image.ref.name': version },
      },
    ],
  });
  const blobs = [config, manifest, chart].map((content) => ({ name: `blobs/sha256/${sha256(content)}`, content }));
  return tarOf(
    [
      ...blobs,
      { name: 'index.json', content: index },
      { name: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
    ],
    atS,
  );
}

const descriptorOf = (mediaType: string, content: Buffer) => ({
  mediaType,
  digest: `sha256:${sha256(content)}`,
  size: content.length,
});

const json = (value: object) => Buffer.from(JSON.stringify(value));

/** The SHA-256 of bytes, as `sha256sum` prints it. */
export const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex');
