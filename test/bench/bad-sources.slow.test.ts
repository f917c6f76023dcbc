import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';
import { tableLines } from '../../deploy/terminal/table.ts';
import { fixture } from '../../functions/inspect-source/fixtures/read.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { findVersitygw } from '../cluster/versitygw.ts';
import { startVersitygwStore } from '../cluster/versitygw-store.ts';
import { letInspect } from '../stories/inspection.ts';
import { onLocalCluster } from '../stories/local-world.ts';
import { createImage, type Spec, type Story, setPolicy, until, type World } from '../stories/world.ts';

/** What is at the URL; or what the server answers, or another bucket than that of the others, without an object. */
type Source = Buffer | string | { status: number } | { bucket: string };

const text = (begin: string) => `${begin}${' and so on'.repeat(100)}`;
const qcow2 = (virtualBytes: number, dataBytes = 0) => qcow2Buffer({ virtualBytes, dataBytes, seed: 'bad' });
const small = { diskSize: '16Mi' };
const cut = (content: Buffer, share: number) => content.subarray(0, Math.floor(content.length * share));
const magic = (at: number, bytes: string) => {
  const content = Buffer.alloc(2 << 20);
  content.write(bytes, at, 'latin1');
  return content;
};

/** What is wrong, how the inspection calls it, what is at the URL, and what the spec says. */
type Kind = [what: string, reason: string, source: Source | undefined, spec?: Partial<Spec>];

const kinds: readonly Kind[] = [
  ['no such object (S3)', 'SourceMissing', undefined],
  ['no such bucket (S3)', 'SourceMissing', { bucket: 'nowhere' }],
  ['a name that no bucket has (S3)', 'SourceMissing', { bucket: 'No_where' }],
  ['a wrong secret key (S3)', 'SourceForbidden', qcow2(32 << 20), { secretRef: 'wrong' }],
  ['an unknown key (S3)', 'SourceForbidden', qcow2(32 << 20), { secretRef: 'unknown' }],
  ['HTTP 404', 'SourceMissing', { status: 404 }],
  ['HTTP 410', 'SourceMissing', { status: 410 }],
  ['HTTP 401', 'SourceForbidden', { status: 401 }],
  ['HTTP 403', 'SourceForbidden', { status: 403 }],
  ['an HTML page', 'NotAnImage', text('<!DOCTYPE html><html>')],
  ['an XML document', 'NotAnImage', text('<?xml version="1.0"?><feed>')],
  ['a JSON document', 'NotAnImage', text('{"message": "rate limited"}')],
  ['text', 'NotAnImage', text('Sorry')],
  ['an error of S3, with 200', 'NotAnImage', text('<?xml version="1.0"?><Error><Code>SlowDown</Code></Error>')],
  ['an empty object', 'NotAnImage', ''],
  ['an object of 18 bytes', 'NotAnImage', Buffer.alloc(18)],
  ['a page in gz', 'NotAnImage', gzipSync(text('<html>'.repeat(200)))],
  ['an OVA', 'NotAnImage', magic(257, 'ustar')],
  ['a zip archive', 'NotAnImage', magic(0, 'PK\x03\x04')],
  ['an encrypted qcow2', 'NotAnImage', await fixture('locked.qcow2')],
  ['a qcow2 cut in the middle', 'ImageTruncated', cut(qcow2(32 << 20, 8 << 20), 0.5)],
  ['a qcow2 cut in its tables', 'ImageTruncated', cut(qcow2(32 << 20, 8 << 20), 0.02)],
  ['a qcow2 larger than its disk', 'DiskTooSmall', qcow2(128 << 20, 8 << 20), small],
  ['a raw disk larger than its disk', 'DiskTooSmall', magic(510, '\x55\xaa'), { diskSize: '1Mi' }],
  ['a qcow2 in gz larger than its disk', 'DiskTooSmall', gzipSync(qcow2(128 << 20, 8 << 20)), small],
  ['a qcow2 with a backing file', 'BackingFile', await fixture('backed.qcow2')],
];

const isContent = (source: Source | undefined): source is Buffer | string =>
  typeof source === 'string' || Buffer.isBuffer(source);

const isAnswer = (source: Source | undefined): source is { status: number } =>
  typeof source === 'object' && 'status' in source;

const isThere = (await findVersitygw()) !== undefined;
if (!isThere) console.warn('skipped: bad sources of a real S3 server need versitygw on the PATH');

/** Each kind from our own store, and what S3 answers from a real S3 server, too. */
const stores = [
  { store: 'our own object store', startStore: startObjectStore, kinds, isThere: true },
  {
    store: 'versitygw',
    startStore: startVersitygwStore,
    kinds: kinds.filter(([, , source]) => !isAnswer(source)),
    isThere,
  },
];

interface Row {
  phase: string;
  reason: string;
  bytes: number;
  slotMs: number;
  verdictMs: number;
}

/** Has an image of each kind made, one after the other, with inspections or without. */
async function rows(kinds: readonly Kind[], startStore: Story['startStore'], inspectTimeout: string): Promise<Row[]> {
  const found: Row[] = [];
  const local = { schedules: { sweep: '*/2 * * * * *', audit: '0 0 1 1 *' } };
  const policy = { inspectTimeout, retryLimit: '0' };
  const run = async (world: World) => {
    await letInspect(world);
    await makeSecrets(world);
    for (const kind of kinds) found.push(await rowOf(world, kind));
  };
  await onLocalCluster({ name: 'bad sources', policy, local, startStore, allows: ['S9'], run });
  return found;
}

async function makeSecrets({ kube, namespace }: World) {
  const { data = {} } = (await kube.get(Secret, { namespace, name: 's3-reader' })) ?? {};
  for (const [name, key] of [
    ['wrong', 'secretKey'],
    ['unknown', 'accessKeyId'],
  ] as const)
    await kube.create(Secret, { metadata: { namespace, name }, data: { ...data, [key]: btoa('other') } });
}

async function rowOf(world: World, [what, , source, spec = {}]: Kind): Promise<Row> {
  const name = `bad-${kinds.findIndex((kind) => kind[0] === what)}`;
  const key = `${name}.img`;
  const server = isAnswer(source) ? await answering(source.status) : undefined;
  if (server) await setPolicy(world, { allowedSources: `${world.store.url}/** s3-reader\n${server.url}/**` });
  if (isContent(source)) await world.store.put('images', key, source);
  const { bucket = 'images' } = typeof source === 'object' && 'bucket' in source ? source : {};
  const url = server
    ? { sourceType: 'http' as const, url: `${server.url}/${key}` }
    : { url: `${world.store.url}/${bucket}/${key}` };
  const beganMs = performance.now();
  await createImage(world, name, { ...url, ...spec });
  const isOver = (image: VMDiskImage | undefined) => ['Failed', 'Succeeded'].includes(image?.status?.phase ?? '');
  const image = await until(world, VMDiskImage, { namespace: world.namespace, name }, isOver);
  const verdictMs = performance.now() - beganMs;
  server?.close();
  const { startedAt, phase = '', conditions = [], history = [] } = image?.status ?? {};
  return {
    phase,
    reason: conditions.find(({ type }) => type === 'Ready')?.reason ?? '',
    bytes: world.store.bytesSent(`${bucket}/${key}`),
    // The status has whole seconds: a slot that was held at all was held for one.
    slotMs: startedAt ? Math.max(1000, Date.parse(history.at(-1)?.time ?? '') - Date.parse(startedAt)) : 0,
    verdictMs,
  };
}

async function answering(status: number) {
  const server = createServer((_, response) => void response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const columns = ['SOURCE', 'BEFORE', 'BYTES', 'SLOT', 'AFTER', 'BYTES', 'SLOT', 'VERDICT'].map((title) => ({ title }));
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)}s`;

describe.each(stores)('in $store', ({ startStore, kinds, isThere }) => {
  test.skipIf(!isThere)(
    'what is known of a bad source by its first bytes costs no slot and no download',
    { timeout: 600_000 },
    async () => {
      const [before, after] = [await rows(kinds, startStore, '0s'), await rows(kinds, startStore, '30s')];
      const cells = kinds.map(([what], at) => {
        const [was, is] = [before[at], after[at]];
        if (!was || !is) throw new Error(`expected two rows for ${what}`);
        const of = ({ phase, reason, bytes, slotMs }: Row) => [`${phase} ${reason}`, String(bytes), seconds(slotMs)];
        return [what, ...of(was), ...of(is), seconds(is.verdictMs)];
      });
      console.log(tableLines(columns, cells, { columns: Number.POSITIVE_INFINITY, colour: false }).join('\n'));
      expect(after.map(({ phase, reason }) => [phase, reason])).toEqual(kinds.map(([, reason]) => ['Failed', reason]));
      for (const { bytes, slotMs } of after) {
        // It is looked at again if another function wrote to the image meanwhile.
        expect(bytes).toBeLessThanOrEqual(2 * (64 + 2) * 1024);
        expect(slotMs).toBe(0);
      }
    },
  );
});

test('an inspection adds at most 300 ms to the time until an image syncs', { timeout: 300_000 }, async () => {
  const took: Record<string, number[]> = { '0s': [], '30s': [] };
  const run = async (world: World) => {
    await letInspect(world);
    await world.store.put('images', 'good.qcow2', qcow2(32 << 20, 1 << 18));
    for (let nth = 0; nth < 12; nth++) {
      for (const [inspectTimeout, times] of Object.entries(took)) {
        await setPolicy(world, { inspectTimeout });
        const name = `good-${nth}-${inspectTimeout}`;
        const ref = { namespace: world.namespace, name };
        const beganMs = performance.now();
        await createImage(world, name, { url: `${world.store.url}/images/good.qcow2` });
        await until(world, VMDiskImage, ref, (image) => image?.status?.startedAt !== undefined);
        times.push(performance.now() - beganMs);
        const image = await until(world, VMDiskImage, ref, (found) => found?.status?.phase === 'Succeeded');
        const found = image?.status?.conditions?.find(({ type }) => type === 'SourceInspected')?.reason;
        expect(found).toBe(inspectTimeout === '0s' ? undefined : 'Inspected');
      }
    }
  };
  await onLocalCluster({ name: 'good sources', policy: { concurrency: '4' }, run });
  const medianOf = (times: readonly number[] = []) =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const [without, inspected] = [medianOf(took['0s']), medianOf(took['30s'])];
  console.log(
    `from creation to Syncing: ${Math.round(without)} ms without an inspection, ${Math.round(inspected)} ms with one`,
  );
  // On a machine that does much else, both take longer.
  expect(inspected - without).toBeLessThanOrEqual(Math.max(300, without));
});
