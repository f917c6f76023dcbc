import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Kube } from '../kube.ts';
import { type RunningTelemetry, startTelemetry } from './sdk.ts';
import { observeServers } from './server-gauges.ts';

let telemetry: RunningTelemetry;
beforeEach(async () => {
  telemetry = await startTelemetry({ serviceName: 'test' });
});
afterEach(() => telemetry.shutdown());

test('machines on OpenStack are counted by phase, and those that cannot be read are absent, not what they were', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  let isAway = false;
  const pages = async function* () {
    if (isAway) throw new Error('no answer');
    yield { items: [{ status: { phase: 'Running' } }, { status: { phase: 'Running' } }, {}], resourceVersion: '1' };
  };
  const stop = observeServers({ pages } as unknown as Pick<Kube, 'pages'>);
  const samples = async () => (await telemetry.metrics()).split('\n').filter((line) => line.startsWith('ot_servers{'));
  expect((await samples()).find((line) => line.includes('phase="Running"'))).toMatch(/ 2$/);
  isAway = true;
  expect(await samples()).toEqual([]);
  expect(log).toHaveBeenCalledWith(expect.stringContaining('no answer'));
  isAway = false;
  expect((await samples()).find((line) => line.includes('phase="Running"'))).toMatch(/ 2$/);
  stop();
  log.mockRestore();
});
