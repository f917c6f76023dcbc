import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ports } from '../../knative/services.ts';
import { metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { prometheusName } from '../../shared/runtime/telemetry/metrics-prometheus.ts';
import { hasKubectl } from '../../test/stories/local-world.ts';
import { alertCases } from '../../test/support/builders/alert-cases.ts';
import { documents } from '../manifests.ts';
import { alerts } from './alerts.ts';
import { series } from './expressions.ts';
import { dashboardFiles, dashboards, dashboardsFolder } from './files.ts';
import { grafanaJson } from './grafana.ts';
import { metricsPort, podMonitor } from './pod-monitor.ts';

const namesOfAlerts = alerts.map(({ name }) => name);
const panels = dashboards.flatMap(({ rows }) => rows.flatMap(({ panels: ofRow }) => ofRow));

test('no other generated file exists', async () => {
  const files = dashboardFiles();
  const found = (await readdir(dashboardsFolder)).filter((name) => /\.(json|yaml)$/.test(name));
  expect(found.sort()).toEqual([...files.keys()].sort());
});

describe('an alert', () => {
  test.each(namesOfAlerts)('%s is tried where it fires and where it is silent', (name) => {
    const cases = alertCases.filter(({ alert }) => alert === name);
    expect(cases.filter(({ fires }) => fires.length > 0).length).toBeGreaterThan(0);
    expect(cases.filter(({ fires }) => fires.length === 0).length).toBeGreaterThan(0);
  });
  test('has a runbook of its name, and no runbook is of none', async () => {
    const pages = (await readdir(new URL('runbooks/', dashboardsFolder))).map((name) => name.replace(/\.md$/, ''));
    expect(pages.sort()).toEqual([...namesOfAlerts].sort());
  });
  test.each(namesOfAlerts)('%s has a runbook that says what it means, how to look and what to do', async (name) => {
    const page = await readFile(new URL(`runbooks/${name}.md`, dashboardsFolder), 'utf8');
    expect(page.split('\n')[0]).toBe(`# ${name}`);
    for (const part of ['## What it means', '## Look', '## Do']) expect(page).toContain(part);
    expect(page).toMatch(/```sh\n/);
    for (const [, path = ''] of page.matchAll(/\]\((?!http)([^)#]+)/g))
      await expect(access(new URL(path, new URL('runbooks/', dashboardsFolder)))).resolves.toBeUndefined();
  });
  test.each(namesOfAlerts)('%s is linked from a panel that shows its cause', (name) => {
    expect(panels.some(({ alerts: linked = [] }) => linked.includes(name))).toBe(true);
  });
});

describe('the dashboards', () => {
  test('show every metric of ours; those of conventions have dashboards of others', () => {
    const asked = panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)).join('\n');
    const own = metrics.filter(({ name }) => name.startsWith('ot.'));
    expect(own.length).toBeGreaterThan(metrics.length - 3);
    for (const name of own.map(prometheusName)) expect(asked).toContain(name);
  });
  test('have different names, and link to runbooks that exist', () => {
    const uids = dashboards.map(({ uid }) => uid);
    expect(new Set(uids).size).toBe(uids.length);
    for (const { alerts: linked = [] } of panels) expect(namesOfAlerts).toEqual(expect.arrayContaining([...linked]));
  });
  test('ask for no metric that is not there', () => {
    expect(() => series('ot.unheard.of')).toThrow('expected a metric of shared/runtime/telemetry/metrics.ts');
  });
  test.each(dashboards)('lay out $title so that no panel is on another', (dashboard) => {
    const taken = new Set<string>();
    const ids = new Set<number>();
    for (const { id, gridPos } of grafanaJson(dashboard, []).panels) {
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      const { x, y, w, h } = gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          expect(taken.has(`${column}/${row}`)).toBe(false);
          taken.add(`${column}/${row}`);
        }
      }
    }
  });
  test.each(dashboards)('let $title be narrowed to one namespace, on any data source', (dashboard) => {
    const text = JSON.stringify(grafanaJson(dashboard, []));
    const queries = dashboard.rows.flatMap(({ panels: ofRow }) => ofRow.flatMap(({ queries: all }) => all));
    for (const { expr } of queries) expect(expr).toContain('namespace=~"$namespace"');
    expect(text).not.toMatch(/"uid":"(?!ot-|\$datasource)/);
  });
});

test('functions are scraped where they serve their metrics', () => {
  expect(metricsPort).toBe(ports.metrics);
});

test.each([
  'knative/serving/services.yaml',
  'knative/deployments/deployments.yaml',
  'deploy/production/console/console.yaml',
])('the container of each Pod of %s is scraped', async (path) => {
  const { relabelings } = podMonitor.spec.podMetricsEndpoints[0] ?? {};
  const scraped = new RegExp(`^(${relabelings?.[0]?.regex})$`);
  const pods = documents(await readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')).flatMap(
    (object) => (object as { spec?: { template?: { spec: { containers: { name: string }[] } } } }).spec?.template ?? [],
  );
  expect(pods.length).toBeGreaterThan(0);
  for (const { spec } of pods)
    expect(spec.containers.map(({ name }) => name)).toEqual([expect.stringMatching(scraped)]);
});

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.log('skipped: the kustomization is rendered only where there is kubectl');

test.skipIf(!isKubectlThere)('one command applies rules, monitor and dashboards', async () => {
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', fileURLToPath(dashboardsFolder)], {
    maxBuffer: 16 * 1024 * 1024,
  });
  expect(
    documents(stdout)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['ConfigMap', 'PodMonitor', 'PrometheusRule']);
});
