import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { AlertCase } from '../../test/support/builders/alert-case.ts';
import { alertCases } from '../../test/support/builders/alert-cases.ts';
import { aFolder, findPrometheus, promtool } from '../../test/support/tools/prometheus/prometheus.ts';
import { runbookUrl } from './alert.ts';
import { alerts } from './alerts.ts';
import { dashboardsFolder } from './files.ts';
import { recordings } from './recordings.ts';
import { ruleGroups } from './rules.ts';

const { path: bin, missing } = await findPrometheus();
if (missing) console.log(`skipped: the rules are tried only with Prometheus: ${missing}`);

/** A folder with the rules in it, and what promtool says of a file beside them. */
async function saidOf(command: readonly string[], file: string, content: object): Promise<string> {
  const folder = await aFolder();
  try {
    await writeFile(join(folder.path, 'rules.yaml'), stringify({ groups: ruleGroups(alerts, recordings) }));
    await writeFile(join(folder.path, file), stringify(content));
    return await promtool(bin, ...command, join(folder.path, file));
  } finally {
    await folder.remove();
  }
}

const asPromtoolTest = ({ alert, series, atMinute, fires }: AlertCase) => {
  const { severity, summary } = alerts.find(({ name }) => name === alert) ?? { severity: '', summary: '' };
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      {
        eval_time: `${atMinute}m`,
        alertname: alert,
        exp_alerts: fires.map(({ labels, description }) => ({
          exp_labels: { ...labels, severity },
          exp_annotations: { summary, description, runbook_url: runbookUrl(alert) },
        })),
      },
    ],
  };
};

describe.skipIf(!bin)('the rules', () => {
  test('are rules that Prometheus takes, each of them once', async () => {
    const written = await readFile(new URL('prometheus-rule.yaml', dashboardsFolder), 'utf8');
    const { spec } = parse(written) as { spec: object };
    const said = await saidOf(['check', 'rules', '--lint-fatal'], 'rules.yaml', spec);
    expect(said).toContain(`SUCCESS: ${alerts.length + recordings.length} rules found`);
  });

  test.each(alertCases.map((one) => ({ ...one, what: one.fires.length > 0 ? 'fires' : 'is silent' })))(
    '$alert $what: $name',
    async (one) => {
      const tests = [asPromtoolTest(one)];
      const said = await saidOf(['test', 'rules'], 'tests.yaml', {
        rule_files: ['rules.yaml'],
        evaluation_interval: '1m',
        tests,
      });
      expect(said).toContain('SUCCESS');
    },
  );
});
