import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { metricsTable, metricsTableDrift, withMetricsTable } from './metrics-table.ts';
import { metrics } from './telemetry/metrics.ts';

const page = (between: string) => `# Metrics\n\n<!-- metrics -->${between}<!-- /metrics -->\n\nThe end.\n`;

async function driftOf(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ot-metrics-'));
  try {
    const file = pathToFileURL(join(folder, 'README.md'));
    await writeFile(file, text);
    return await metricsTableDrift(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('deploy/monitoring/README.md holds the table of shared/runtime/telemetry/metrics.ts', async () => {
  expect(await metricsTableDrift()).toBeUndefined();
});

test('the table has one row for each metric, with as many cells as its head', () => {
  const rows = metricsTable().split('\n');
  expect(rows).toHaveLength(metrics.length + 2);
  for (const row of rows) expect(row.split('|')).toHaveLength(8);
  expect(rows).toContain(
    '| `ot.image.sync.attempts` | `ot_image_sync_attempts_total` | `{attempt}` | counter | `result`, `reason` | Attempts that ended, by result (success, failure, superseded) and the reason word of the status. |',
  );
});

test('writing replaces what stands between the markers, nothing else, and a second time nothing at all', () => {
  const written = withMetricsTable(page('\nold\n')) ?? '';
  expect(written).toBe(page(`\n${metricsTable()}\n`));
  expect(withMetricsTable(written)).toBe(written);
});

test('a page that differs or has lost its markers is told of; one that is right, or not there, is not', async () => {
  expect(await driftOf(page(`\n${metricsTable()}\n`))).toBeUndefined();
  expect(await driftOf(page('\nold\n'))).toContain('Run "npm run generate"');
  expect(await driftOf('# Metrics\n')).toContain('expected the markers <!-- metrics --> and <!-- /metrics -->');
  expect(await metricsTableDrift(pathToFileURL('/nowhere/README.md'))).toBeUndefined();
});
