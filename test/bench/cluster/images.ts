import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where the outside bench creates its images; what they name has the same name. */
export const benchNamespace = 'bench';

/** Where the images of the bench come from. They are never downloaded; requests for them are counted. */
export interface Source {
  url: string;
  /** Requests since it was started. */
  asked(): number;
  close(): Promise<void>;
}

/** Begins to answer for every path with a qcow2 disk of 512 MiB, whose ETag is its own. */
export async function startSource(host: string): Promise<Source> {
  let asked = 0;
  const server = createServer(({ method, url, headers }, response) => {
    asked++;
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const part = first ? disk.subarray(Number(first), Number(last) + 1) : disk;
    response.setHeader('etag', `"${Buffer.from(url ?? '').toString('hex')}"`).setHeader('content-length', part.length);
    if (first) response.setHeader('content-range', `bytes ${first}-${last}/${disk.length}`);
    response.writeHead(first ? 206 : 200).end(method === 'HEAD' ? undefined : part);
  }).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    asked: () => asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The header (docs/interop/qcow2 of QEMU), and room for the tables that it promises. */
const disk = Buffer.alloc(256 * 1024);
disk.write('QFI\xfb', 'latin1');
for (const [at, value] of [
  [4, 3], // version
  [20, 16], // bits of a cluster
  [28, 512 * 1024 * 1024], // virtual size
  [36, 1], // entries of the L1 table
  [44, 0x30000], // where it is
  [52, 0x10000], // where the reference counts are
  [56, 1], // their clusters
  [96, 4], // bits of a count, as a power of two
  [100, 104], // length of the header
] as const)
  disk.writeUInt32BE(value, at);

/** An image of the bench; the driver replaces $name. */
export const imageSpec = ({ url }: Pick<Source, 'url'>) => ({
  storageClass: benchNamespace,
  snapshotClass: benchNamespace,
  secretRef: benchNamespace,
  url: `${url}/$name/disk.qcow2`,
  sourceType: 's3' as const,
  diskSize: '1Gi',
});

/** The policy by which they are downloaded: the source is beside the cluster, and such an address needs a line. */
export const benchPolicy = ({ url }: Pick<Source, 'url'>, slots: number): Record<string, string> => ({
  concurrency: `${slots}`,
  retryLimit: '2',
  retryBackoffDuration: '2s',
  imageNamespaces: benchNamespace,
  allowedSources: `${url}/** ${benchNamespace}`,
});
