import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';

/** Serves what images are imported from: `/good`, `/large.qcow2` (a disk of 5 GiB), and 404 for all else. */
export async function serveFiles(): Promise<{ url: string; close(): Promise<void> }> {
  const files: Record<string, Buffer> = {
    '/good': Buffer.from('sixteen bytes ..'),
    '/large.qcow2': qcow2Buffer({ virtualBytes: 5 * 2 ** 30, dataBytes: 0, seed: 'large' }),
  };
  const server = createServer(({ url = '' }, response) => {
    const found = files[url];
    const length = found ? { 'content-length': found.length } : {};
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/octet-stream', ...length }).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
