import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Content, contentOf, withContent } from './content.ts';
import type { Image } from './state.ts';

const Import = z.object({ method: z.object({ name: z.string(), uri: z.string().optional() }) });

/** Begins a download (`importing`, then `active`); a failed one goes back to `queued` and only os_glance_failed_import tells (glance 25). */
export function importImage(cloud: Cloud, image: Image, body: unknown): void {
  const { name, uri = '' } = bodyAs(Import, body).method;
  if (name !== 'web-download') throw new Refusal(400, `Unknown import method name '${name}'.`);
  if (image.status !== 'queued' || image.importing)
    throw new Refusal(409, `Image with status ${image.status} cannot be target for import`);
  if (image.diskFormat === null || image.containerFormat === null)
    throw new Refusal(
      409,
      `'${image.diskFormat === null ? 'disk_format' : 'container_format'}' needs to be set before import`,
    );
  if (!/^https?:\/\//.test(uri)) throw new Refusal(400, `URI for web-download does not pass filtering: ${uri}`);
  // For a moment it still is queued: that alone does not say that a download failed.
  write(cloud, image.id, (before) => ({ ...before, importing: 'file', failedImport: '' }));
  const half = cloud.times.importImage / 2;
  cloud.clock.after(half, () => {
    write(cloud, image.id, (before) => ({ ...before, status: 'importing' }));
    cloud.clock.after(half, () => void download(cloud, image.id, uri));
  });
}

async function download(cloud: Cloud, id: string, uri: string) {
  const content = cloud.fails('importImage') ? undefined : await contentAt(cloud, uri).catch(() => undefined);
  write(cloud, id, (image) =>
    content
      ? withContent(cloud, image, content)
      : { ...image, status: 'queued', importing: '', failedImport: 'file', size: null },
  );
}

async function contentAt(cloud: Cloud, uri: string): Promise<Content> {
  const answer = await cloud.fetch(uri);
  if (!answer.ok) throw new Error(`${uri} answered ${answer.status}`);
  // Glance 25 reads no answer that does not say how long it is.
  if (!answer.headers.has('content-length')) throw new Error(`${uri} does not say how long it is`);
  return contentOf(answer.body ?? []);
}

function write({ image: { images }, clock }: Cloud, id: string, next: (image: Image) => Image) {
  const image = images.get(id);
  if (image) images.set(id, { ...next(image), updatedMs: clock.now() });
}
