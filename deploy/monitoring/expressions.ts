import { metricOf } from '../../shared/runtime/telemetry/metrics.ts';
import { prometheusName } from '../../shared/runtime/telemetry/metrics-prometheus.ts';

/** A selector of a metric of shared/runtime/telemetry/metrics.ts, by its name there; throws if no metric has that name. */
export const series = (metric: string, matchers = '') => `${prometheusName(metricOf(metric))}${braced(matchers)}`;

/** The buckets of a histogram. */
const buckets = (metric: string, matchers = '') => `${prometheusName(metricOf(metric))}_bucket${braced(matchers)}`;

/** How often a histogram was written to. */
export const counts = (metric: string, matchers = '') => `${prometheusName(metricOf(metric))}_count${braced(matchers)}`;

/** What the variable at the top of each dashboard leaves. */
export const here = 'namespace=~"$namespace"';

const braced = (matchers: string) => (matchers ? `{${matchers}}` : '');

/**
 * By how much a counter rose within a window. `increase` alone loses what a series began with, and a function that sleeps
 * brings a new series whenever it wakes: of one that was not there in the window before, all it counts has happened in this one.
 */
export function rise(selector: string, by: string, window: string): string {
  const begun = `max_over_time(${selector}[${window}]) unless max_over_time(${selector}[${window}] offset ${window})`;
  return `${sumBy(by)} ((${begun}) or increase(${selector}[${window}]))`;
}

/** What the state is: during a rollout two processes may tell it. */
export const state = (selector: string, by: string) => `max by (${by}) (${selector})`;

/** The same of all namespaces together. */
export const stateOfAll = (selector: string, by = '') =>
  `${sumBy(by)} (${state(selector, ['namespace', by].filter(Boolean).join(', '))})`;

/** That share of what happened within the last hour took no longer. */
export const quantile = (share: number, metric: string, matchers: string, by = '') =>
  `histogram_quantile(${share}, ${rise(buckets(metric, matchers), ['le', by].filter(Boolean).join(', '), '1h')})`;

/** Half of what happened within the last hour took no longer than the one, nine of ten no longer than the other. */
export const halfAndNineOfTen = (metric: string, matchers: string) => ({
  half: quantile(0.5, metric, matchers),
  'nine of ten': quantile(0.9, metric, matchers),
});

const sumBy = (by: string) => (by ? `sum by (${by})` : 'sum');
