import { Cron } from 'croner';
import { newEvent, type Sending, send } from './adapter.ts';
import type { PingSource } from './resources.ts';

/** What a PingSource works with. */
interface PingContext extends Sending {
  running(work: Promise<unknown>): void;
}

/**
 * Sends the source's event on its schedule (5 or 6 cron fields), until the signal aborts; throws for a
 * invalid schedule. Ticks that were missed are not caught up. Knative's random jitter below 0.5 s is left out.
 */
export function runPingSource(source: PingSource, schedule: string, context: PingContext): void {
  if (schedule.startsWith('@every')) throw new Error(`expected 5 or 6 cron fields, found "${schedule}"`);
  const { clock, signal } = context;
  const { timezone } = source.spec;
  const cron = new Cron(schedule, { paused: true, ...(timezone ? { timezone } : {}) });
  const wait = () => {
    const next = cron.nextRun(new Date(clock.now()));
    if (!next || signal.aborted) return;
    const off = clock.after(next.getTime() - clock.now(), () => {
      signal.removeEventListener('abort', off);
      wait();
      context.running(send(pingOf(source, clock.now()), context).catch(() => {}));
    });
    signal.addEventListener('abort', off, { once: true });
  };
  wait();
}

/** The event of one tick. */
export function pingOf(source: PingSource, nowMs: number) {
  const { name, namespace = '' } = source.metadata;
  const { data, dataBase64, contentType, ceOverrides } = source.spec;
  const bytes = Buffer.from(dataBase64 ?? data ?? '', dataBase64 === undefined ? 'utf8' : 'base64');
  return newEvent(
    { source: `/apis/v1/namespaces/${namespace}/pingsources/${name}`, type: 'dev.knative.sources.ping' },
    { contentType, data: Uint8Array.from(bytes) },
    nowMs,
    ceOverrides?.extensions,
  );
}
