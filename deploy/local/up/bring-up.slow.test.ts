import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { until } from '../../../test/stories/world.ts';
import { bringUp, type Up } from './bring-up.ts';

const ports = { port: 0, brokerPort: 0, storePort: 0, metricsPort: 0, consolePort: 0 };
let running: Up | undefined;
let folder = '';
afterEach(async () => {
  await running?.close();
  await rm(folder, { recursive: true });
});

test('an event that was not delivered when the cluster ended is made up for as soon as it runs again', async () => {
  folder = await mkdtemp(join(tmpdir(), 'ot-up-'));
  running = await bringUp({ folder, fresh: true, wanted: ports });
  const { kube, eventing } = running.cluster;
  eventing.stopSources();
  const metadata = { namespace: 'default', name: 'unheard' };
  const vmDiskImageRef = { namespace: 'vmdi-farm', name: 'none' };
  await kube.create(VirtualMachine, { metadata, spec: { resources: { cpu: '1', memory: '1Gi' }, vmDiskImageRef } });
  await running.close();
  running = await bringUp({ folder, fresh: false, wanted: ports });
  const found = await until(
    running.cluster,
    VirtualMachine,
    metadata,
    (machine) => machine?.status !== undefined,
    30_000,
  );
  expect(found?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'ImageResolved', status: 'False' }));
}, 90_000);
