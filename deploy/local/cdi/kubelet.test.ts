import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SteppedClock, steppedClock } from '../clock.ts';
import { DataVolume, Pod } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import { endless, failed } from './scripted-import.ts';
import { startCdi } from './start-cdi.ts';
import { aDataVolume, type Recording, type TestCluster, testCluster } from './test-cluster.ts';

const noTime = { tickMs: 0, bindMs: 0, containerMs: 0, rebindMs: 0, podGraceMs: 0 };

let clock: SteppedClock;
let cluster: TestCluster;
let cdi: Running;
let pods: Recording<Pod>;

beforeEach(async () => {
  clock = steppedClock();
  cluster = await testCluster(clock);
  pods = await cluster.record(Pod);
});

afterEach(async () => {
  await cdi.stop();
  await cluster.close();
});

const waitsToRestart = (restarts: number) => (pod: Pod) => {
  const [status] = pod.status?.containerStatuses ?? [];
  return status?.restartCount === restarts && status.state?.waiting?.reason === 'CrashLoopBackOff';
};

test('a failing importer starts again at once, then after 10, 20 and 40 seconds of the clock, not before', async () => {
  let starts = 0;
  const importImage = () => {
    starts++;
    return Promise.resolve(failed('connection refused'));
  };
  cdi = startCdi({ kube: cluster.kube, clock, importImage, timings: noTime });
  await cluster.kube.create(DataVolume, aDataVolume('lab', { http: { url: 'http://images/lab' } }));
  for (const [restarts, seconds] of [
    [1, 10],
    [2, 20],
    [3, 40],
  ] as const) {
    const waiting = await pods.until(waitsToRestart(restarts));
    expect(waiting.status?.containerStatuses[0]?.state?.waiting?.message).toMatch(
      `back-off ${seconds}s restarting failed container=importer`,
    );
    expect(starts).toBe(restarts + 1);
    clock.step(seconds * 1000 - 1);
    expect(starts).toBe(restarts + 1);
    clock.step(1);
  }
  await pods.until(waitsToRestart(4));
  expect(starts).toBe(5);
});

test('a long run that fails late is repeated without a pause', async () => {
  let end = () => {};
  let starts = 0;
  const importImage = ({ signal }: { signal: AbortSignal }) => {
    starts++;
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof failed>>();
    signal.addEventListener('abort', () => reject(signal.reason));
    end = () => resolve(failed('unexpected EOF'));
    return promise;
  };
  cdi = startCdi({ kube: cluster.kube, clock, importImage, timings: noTime });
  await cluster.kube.create(DataVolume, aDataVolume('lab', { http: { url: 'http://images/lab' } }));
  for (const run of [1, 2, 3, 4]) {
    await pods.until(
      ({ status }) =>
        status?.containerStatuses[0]?.state?.running !== undefined &&
        status.containerStatuses[0].restartCount === run - 1,
    );
    clock.step(600_000);
    end();
  }
  await pods.until(({ status }) => status?.containerStatuses[0]?.restartCount === 4);
  expect(starts).toBe(5);
  expect(
    pods.events.some(
      ({ object }) => object.status?.containerStatuses[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
    ),
  ).toBe(false);
});

test('a container that ran when the node went down is seen as lost, and starts once more', async () => {
  const first = endless();
  const lostNode = startCdi({ kube: cluster.kube, clock, importImage: first.importImage, timings: noTime });
  await cluster.kube.create(DataVolume, aDataVolume('lab', { http: { url: 'http://images/lab' } }));
  await pods.until(({ status }) => status?.containerStatuses[0]?.state?.running !== undefined);
  await lostNode.stop();
  const second = endless();
  cdi = startCdi({ kube: cluster.kube, clock, importImage: second.importImage, timings: noTime });
  const restarted = await pods.until(({ status }) => status?.containerStatuses[0]?.restartCount === 1);
  expect(restarted.status?.containerStatuses[0]?.lastState?.terminated).toMatchObject({
    exitCode: 255,
    reason: 'Unknown',
    startedAt: new Date(clock.now()).toISOString().replace('.000', ''),
  });
  await expect.poll(() => second.state).toEqual({ running: 1, started: 1 });
  expect(first.state).toEqual({ running: 0, started: 1 });
});
