import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '../../deploy/local/clock.ts';
import { regionOf } from '../../deploy/local/importer/s3-source.ts';
import { sharedBandwidth } from '../../deploy/local/object-store/bandwidth.ts';
import { faultTable } from '../../deploy/local/object-store/faults.ts';
import type { ObjectStore, ObjectStoreOptions } from '../../deploy/local/object-store/object-store.ts';
import { storedObject } from '../../deploy/local/object-store/stored-object.ts';
import { countedTraffic, objectPath } from '../../deploy/local/object-store/traffic.ts';
import { meteredProxy } from './metered-proxy.ts';
import { startVersitygw } from './versitygw.ts';
import { type BucketOwner, bucketOwner } from './versitygw-client.ts';

/** As of our own object store; `keys` holds one pair, which is the server's owner's, and passwords it knows none. */
export interface VersitygwStoreOptions extends Omit<ObjectStoreOptions, 'clock' | 'folder' | 'basicAuthBuckets'> {
  /** The address to listen on; loopback by default. */
  host?: string;
}

/**
 * Starts an object store whose objects, signatures and errors are versitygw's, a real S3 server on loopback. Before it
 * stands what a server does not offer: bytes that are counted, a link of limited speed, and faults.
 */
export async function startVersitygwStore(options: VersitygwStoreOptions): Promise<ObjectStore> {
  const { host = '127.0.0.1' } = options;
  const [keys, ...others] = options.keys;
  if (!keys || others.length > 0)
    throw new Error(`expected one pair of keys, versitygw's owner's, found ${options.keys.length}: give it one`);
  // CDI signs for the region that it reads out of the host's name, whatever the server says.
  const region = options.region ?? regionOf(host);
  const started: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  try {
    const server = await startVersitygw({ keys, region });
    started.push(server.stop);
    const owner = bucketOwner(server.port, keys, region);
    const shelves = await emptyShelves(owner, server.folder, options.publicBuckets ?? []);
    started.push(shelves.close);
    const { put, remove, sizeOf } = shelves;
    const faults = faultTable(options.faults ?? []);
    const bandwidth = sharedBandwidth(realClock, options.bytesPerSecond);
    const traffic = countedTraffic();
    const proxy = createServer(meteredProxy({ port: server.port, faults, bandwidth, traffic }));
    await new Promise<void>((resolve, reject) => proxy.once('error', reject).listen(options.port ?? 0, host, resolve));
    started.push(() => {
      const closed = new Promise((resolve) => proxy.close(resolve));
      proxy.closeAllConnections();
      return closed;
    });
    const { bytesSent, requests, onBytes } = traffic;
    const url = `http://${host}:${(proxy.address() as AddressInfo).port}`;
    return {
      url,
      put,
      remove,
      sizeOf,
      faults: faults.rules,
      limitTo: bandwidth.limitTo,
      bytesSent,
      requests,
      onBytes,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function emptyShelves(owner: BucketOwner, folder: string, publicBuckets: readonly string[]) {
  const spoolFolder = await mkdtemp(join(tmpdir(), 'versitygw-store-'));
  const buckets = new Map<string, Promise<void>>();
  const sizes = new Map<string, number>();
  const make = async (bucket: string) => {
    await owner.createBucket(bucket);
    if (publicBuckets.includes(bucket)) await owner.publish(bucket);
  };
  const made = (bucket: string) => {
    const making = buckets.get(bucket) ?? make(bucket);
    buckets.set(bucket, making);
    return making;
  };
  await Promise.all(publicBuckets.map(made));
  const put: ObjectStore['put'] = async (bucket, key, content) => {
    await made(bucket);
    const object = await storedObject(content, spoolFolder, realClock.now());
    await owner.putObject(bucket, key, object);
    sizes.set(objectPath(`${bucket}/${key}`), object.size);
  };
  return {
    put,
    // The next request must not find it any more, and the interface does not wait.
    remove: (bucket: string, key: string) => {
      rmSync(join(folder, bucket, key), { force: true });
      sizes.delete(objectPath(`${bucket}/${key}`));
    },
    sizeOf: (path: string) => sizes.get(objectPath(path)),
    close: () => rm(spoolFolder, { recursive: true }),
  };
}
