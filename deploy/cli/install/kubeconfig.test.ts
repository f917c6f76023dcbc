import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { kubeconfigFor } from '../../local/api-server/kubeconfig.ts';
import { clusterOf } from './connect.ts';
import { kubeconfigOf } from './kubeconfig.ts';

test('requests and watches are made as another user, of whom each group has a header of its own', async () => {
  const seen: string[][] = [];
  const server = createServer(({ rawHeaders }, response) => {
    const pairs = rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : [],
    );
    seen.push(pairs.filter((header) => header.startsWith('impersonate-')).sort());
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'ot-as-'));
  try {
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    const where = { kubeconfig, context: undefined, as: 'jane', asGroups: ['dev', 'ops'] };
    const { kube } = clusterOf(kubeconfigOf(where), { say: () => undefined, timeoutMs: 0 });
    await kube.list(Namespace);
    await kube.watch(Namespace, { signal: AbortSignal.timeout(10_000) }, () => undefined).catch(() => undefined);
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  }
  const jane = ['impersonate-group: dev', 'impersonate-group: ops', 'impersonate-user: jane'];
  expect(seen).toEqual([jane, jane]);
});

test('groups alone impersonate no one, and are refused', () => {
  expect(() => kubeconfigOf({ kubeconfig: undefined, context: undefined, asGroups: ['dev'] })).toThrow(
    'expected --as with --as-group, found none',
  );
});
