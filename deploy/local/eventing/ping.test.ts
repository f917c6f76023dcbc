import { describe, expect, test } from 'vitest';
import { comparable, comparableRequest, recorded } from '../../../test/support/tools/recorded-knative-events.ts';
import { steppedClock } from '../clock.ts';
import { runPingSource } from './ping.ts';
import { PingSource } from './resources.ts';
import { workInProgress } from './work.ts';

function ticking(schedule: string, spec: object = {}) {
  const clock = steppedClock(Date.parse('2026-01-01T00:00:00Z'));
  const requests: Request[] = [];
  const times: string[] = [];
  const work = workInProgress();
  const controller = new AbortController();
  const source = PingSource.parse({
    metadata: { name: 'tick', namespace: 'default' },
    spec: { contentType: 'application/json', data: '{"hello":"tick"}', sink: { uri: 'http://sink/' }, ...spec },
  });
  runPingSource(source, schedule, {
    clock,
    signal: controller.signal,
    namespace: 'default',
    sink: {
      url: 'http://sink/',
      send: async (request) => {
        requests.push(request.clone());
        times.push(new Date(clock.now()).toISOString().slice(11, 19));
        return new Response(null, { status: 202 });
      },
    },
    lost: () => {},
    running: work.add,
  });
  const step = async (milliseconds: number) => {
    clock.step(milliseconds);
    await work.idle();
  };
  return { step, requests, times, stop: () => controller.abort() };
}

describe('a PingSource', () => {
  test('sends what was recorded of the real one', async () => {
    const { step, requests } = ticking('*/2 * * * * *');
    await step(2000);
    const wanted = await recorded('pingsource-source-to-sink');
    expect(requests.map(comparableRequest)).toEqual([comparable(wanted.headers)]);
    expect(await requests[0]?.text()).toBe(wanted.rawBody);
  });

  test('ticks by the clock it was given, with six fields', async () => {
    const { step, times } = ticking('*/30 * * * * *');
    await step(29_999);
    expect(times).toEqual([]);
    await step(1);
    await step(30_000);
    expect(times).toEqual(['00:00:30', '00:01:00']);
  });

  test('reads five fields as minutes, in its time zone', async () => {
    const { step, times } = ticking('30 5 * * *', { timezone: 'Asia/Kolkata' });
    await step(60_000);
    expect(times).toEqual([]);
    await step(24 * 3_600_000);
    expect(times).toEqual(['00:00:00']);
  });

  test('is silent once stopped', async () => {
    const { step, times, stop } = ticking('* * * * * *');
    await step(1000);
    stop();
    await step(5000);
    expect(times).toHaveLength(1);
  });

  test.each(['@every 1s', 'often'])('refuses the schedule "%s"', (schedule) => {
    expect(() => ticking(schedule)).toThrow();
  });
});
