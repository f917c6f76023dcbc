import { escapeXml } from './s3-error.ts';
import type { StoredObject } from './stored-object.ts';

/** The answer to ListObjectsV2 with `prefix`, `start-after`, `max-keys` and `continuation-token` (which is the last key of the page before). */
export function listObjectsXml(bucket: string, objects: Map<string, StoredObject>, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const limit = Math.min(Number(query.get('max-keys') ?? 1000), 1000);
  const found = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = found.slice(0, limit);
  const isTruncated = found.length > page.length;
  const contents = page.map((key) => {
    const { size, etag, lastModifiedMs } = objects.get(key) ?? { size: 0, etag: '', lastModifiedMs: 0 };
    return `<Contents>${tags({
      Key: key,
      LastModified: new Date(lastModifiedMs).toISOString(),
      ETag: `"${etag}"`,
      Size: size,
      StorageClass: 'STANDARD',
    })}</Contents>`;
  });
  const summary = tags({
    Name: bucket,
    Prefix: prefix,
    KeyCount: page.length,
    MaxKeys: limit,
    IsTruncated: isTruncated,
    ...(isTruncated ? { NextContinuationToken: page.at(-1) ?? '' } : {}),
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${summary}${contents.join('')}</ListBucketResult>`;
}

const tags = (fields: Record<string, string | number | boolean>) =>
  Object.entries(fields)
    .map(([name, value]) => `<${name}>${escapeXml(String(value))}</${name}>`)
    .join('');
