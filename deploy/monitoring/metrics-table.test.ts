import { expect, test } from 'vitest';
import { metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { metricsTable } from './metrics-table.ts';

test('the table has one row for each metric, with as many cells as its head', () => {
  const rows = metricsTable().split('\n');
  expect(rows).toHaveLength(metrics.length + 2);
  for (const row of rows) expect(row.split('|')).toHaveLength(8);
  expect(rows).toContain(
    '| `ot.image.sync.attempts` | `ot_image_sync_attempts_total` | `{attempt}` | counter | `result`, `reason` | Attempts that ended, by result (success, failure, superseded) and the reason word of the status. |',
  );
});
