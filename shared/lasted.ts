import type { Action } from './actions.ts';
import type { TraceOf } from './traces.ts';

interface Duration {
  /** One of shared/runtime/telemetry/metrics.ts, in seconds. */
  metric: string;
  since: string;
  nowMs: number;
  /** Which trace has it as a span. */
  trace?: TraceOf;
  attributes?: Readonly<Record<string, string>>;
}

/** How long something took; clocks that differ make it no less than nothing. */
export const lasted = ({ metric, since, nowMs, trace, attributes }: Duration): Action => ({
  do: 'measure',
  metric,
  value: Math.max(0, nowMs - Date.parse(since)) / 1000,
  since,
  ...(trace ? { trace } : {}),
  ...(attributes ? { attributes } : {}),
});
