import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { metricOf, metrics } from './metrics.ts';
import { prometheusName } from './metrics-prometheus.ts';

const each = metrics.map((metric) => [metric.name, metric] as const);

describe('the table of metrics', () => {
  test.each(each)('names %s as OpenTelemetry asks: dotted, lower case, without its unit', (name, { unit }) => {
    // What is not ours has the name that OpenTelemetry's conventions give it.
    if (name !== 'http.server.request.duration') expect(name).toMatch(/^ot(\.[a-z]+)+$/);
    expect(name).not.toMatch(/seconds|bytes|total|count$/);
    expect(['s', 'By']).toContain(unit.replace(/^\{[a-z]+\}$/, 's'));
  });
  test.each(each)('gives %s a name that Prometheus takes: base unit, then _total for counters alone', (_, metric) => {
    const name = prometheusName(metric);
    expect(name).toMatch(/^[a-z][a-z0-9_]*[a-z]$/);
    expect(name).not.toMatch(/_(count|sum|bucket|info)$/);
    expect(name.endsWith('_total')).toBe(metric.kind.toLowerCase().includes('counter'));
    if (metric.unit === 's') expect(name).toMatch(/_seconds(_total)?$/);
    if (metric.unit === 'By') expect(name).toMatch(/_bytes(_total)?$/);
  });
  test.each(each)('describes %s in a sentence, with labels Prometheus takes and rising buckets', (_, metric) => {
    expect(metric.description).toMatch(/^\S.*\.$/);
    for (const label of metric.labels)
      expect(label).toMatch(metric.name.startsWith('ot.') ? /^[a-z]+(_[a-z]+)*$/ : /^[a-z]+([._][a-z]+)*$/);
    // A scrape gives each series the namespace of its Pod, and renames a label of that name.
    expect(metric.labels).not.toContain('namespace');
    expect(metric.buckets !== undefined).toBe(metric.kind === 'histogram');
    expect([...(metric.buckets ?? [])]).toEqual([...(metric.buckets ?? [])].sort((a, b) => a - b));
  });
  test('has each name once, and none that is the beginning of another', () => {
    const names = metrics.map(({ name }) => name);
    for (const name of names) {
      expect(names.filter((other) => other === name || other.startsWith(`${name}.`))).toEqual([name]);
    }
    expect(new Set(metrics.map(prometheusName)).size).toBe(metrics.length);
  });
  test('has every metric that the code names', async () => {
    const named = new Set<string>();
    for (const folder of ['functions', 'shared']) {
      const root = new URL(`../../../${folder}/`, import.meta.url);
      for (const file of await readdir(root, { recursive: true })) {
        if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
        const text = await readFile(new URL(file, root), 'utf8');
        for (const [, name] of text.matchAll(/(?:metric: |measure\(|point\()'(ot\.[^']+)'/g)) named.add(name ?? '');
      }
    }
    expect(named.size).toBeGreaterThan(5);
    for (const name of named) expect(metricOf(name).name).toBe(name);
  });
});

test('a metric that is not in the table is refused with what to do', () => {
  expect(() => metricOf('ot.unheard.of')).toThrow(
    'expected a metric of shared/runtime/telemetry/metrics.ts, found ot.unheard.of; add it to the table first',
  );
});
