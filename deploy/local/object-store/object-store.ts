import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, realClock } from '../clock.ts';
import { answer, type Shelves } from './answer.ts';
import { sharedBandwidth } from './bandwidth.ts';
import { type Fault, faultTable } from './faults.ts';
import { type KeptObjects, keptObjects } from './kept-objects.ts';
import type { KeyPair } from './sigv4.ts';
import { type Content, type StoredObject, storedObject } from './stored-object.ts';
import { countedTraffic, objectPath, type Traffic } from './traffic.ts';

/** Who may read, and how fast. Signatures are judged by `clock`, which should be the one they were made by. */
export interface ObjectStoreOptions {
  clock?: Clock;
  /** 0, the default, takes a free one. */
  port?: number;
  keys: readonly KeyPair[];
  /** Refuses signatures for another region; any will do without it. */
  region?: string;
  /** Shared by all downloads; no limit without it. */
  bytesPerSecond?: number;
  /** Buckets anyone may read. */
  publicBuckets?: readonly string[];
  /** Buckets that a key pair may read as user name and password. */
  basicAuthBuckets?: readonly string[];
  faults?: readonly Fault[];
  /** A folder in which only this store keeps its objects; without it they are lost when the store closes. */
  folder?: string;
}

/** A running object store; paths are `/bucket/key`, `bucket/key` or whole URLs. */
export interface ObjectStore extends Pick<Traffic, 'bytesSent' | 'requests' | 'onBytes'> {
  /** Where it listens, without a slash at the end. */
  url: string;
  /** Stores an object, and creates its bucket if it does not exist. */
  put(bucket: string, key: string, content: Content): Promise<void>;
  remove(bucket: string, key: string): void;
  /** The size of an object in bytes; undefined if it does not exist. */
  sizeOf(path: string): number | undefined;
  /** What goes wrong; change it at any time. */
  faults: Fault[];
  /** Changes the speed of all downloads together; undefined is no limit, 0 stops them. */
  limitTo(bytesPerSecond: number | undefined): void;
  close(): Promise<void>;
}

/** Starts an object store on 127.0.0.1 that speaks as much of S3 as downloading images needs. */
export async function startObjectStore(options: ObjectStoreOptions): Promise<ObjectStore> {
  const clock = options.clock ?? realClock;
  const kept = options.folder === undefined ? undefined : await keptObjects(options.folder);
  const spoolFolder = await mkdtemp(join(tmpdir(), 'object-store-'));
  const shelves = emptyShelves(options, clock, spoolFolder, kept);
  const server = createServer((request, response) => void answer(request, response, shelves));
  try {
    for (const { bucket, key, content } of kept?.found ?? [])
      shelve(shelves, bucket, key, await storedObject(content, spoolFolder, clock.now()));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
    });
  } catch (error) {
    await rm(spoolFolder, { recursive: true });
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const { bytesSent, requests, onBytes } = shelves.traffic;
  return {
    url: `http://127.0.0.1:${port}`,
    put: shelves.put,
    remove: (bucket, key) => {
      shelves.buckets.get(bucket)?.delete(key);
      void kept?.forget(bucket, key);
    },
    sizeOf: (path) => {
      const [, bucket = '', key = ''] = /^\/([^/]*)\/(.*)$/s.exec(objectPath(path)) ?? [];
      return shelves.buckets.get(bucket)?.get(key)?.size;
    },
    faults: shelves.faults.rules,
    limitTo: shelves.bandwidth.limitTo,
    bytesSent,
    requests,
    onBytes,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await rm(spoolFolder, { recursive: true });
    },
  };
}

function emptyShelves(
  options: ObjectStoreOptions,
  clock: Clock,
  spoolFolder: string,
  kept: KeptObjects | undefined,
): Shelves {
  const buckets = new Map<string, Map<string, StoredObject>>();
  const named = [...(options.publicBuckets ?? []), ...(options.basicAuthBuckets ?? [])];
  for (const bucket of named) buckets.set(bucket, new Map());
  return {
    buckets,
    put: async (bucket, key, content) => {
      const lasting = kept ? await kept.keep(bucket, key, content) : content;
      shelve({ buckets }, bucket, key, await storedObject(lasting, spoolFolder, clock.now()));
    },
    access: { keys: options.keys, region: options.region },
    publicBuckets: options.publicBuckets ?? [],
    basicAuthBuckets: options.basicAuthBuckets ?? [],
    faults: faultTable(options.faults ?? []),
    traffic: countedTraffic(),
    bandwidth: sharedBandwidth(clock, options.bytesPerSecond),
    nowMs: clock.now,
  };
}

const shelve = ({ buckets }: Pick<Shelves, 'buckets'>, bucket: string, key: string, object: StoredObject) =>
  buckets.set(bucket, (buckets.get(bucket) ?? new Map<string, StoredObject>()).set(key, object));
