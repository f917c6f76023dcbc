import { runbookUrl } from './alert.ts';
import type { Dashboard, Panel, Row } from './dashboard.ts';

/** What Grafana 10.4 and later read; newer ones bring it up to their own. */
const schemaVersion = 39;

const prometheus = { type: 'prometheus', uid: '$datasource' };

export const grafanaJson = ({ uid, title, description, rows }: Dashboard, others: readonly Dashboard[]) => ({
  uid,
  title,
  description,
  tags: ['ot-functions'],
  schemaVersion,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  templating: { list: [datasource, namespace] },
  links: others.map((other) => ({ ...link(other.title, `/d/${other.uid}`), includeVars: true, keepTime: true })),
  annotations: { list: [] },
  panels: laidOut(rows),
});

const link = (title: string, url: string) => ({
  type: 'link',
  title,
  url,
  icon: 'external link',
  tooltip: '',
  tags: [],
  asDropdown: false,
  includeVars: false,
  keepTime: false,
  targetBlank: false,
});

const datasource = {
  name: 'datasource',
  label: 'Prometheus',
  type: 'datasource',
  query: 'prometheus',
  current: { text: 'default', value: 'default' },
  hide: 0,
  refresh: 1,
};

/** Metrics that came by OTLP may have no such label: "All" matches those, too. */
const namespace = {
  name: 'namespace',
  label: 'Namespace',
  type: 'query',
  datasource: prometheus,
  query: { query: 'label_values(ot_policy_valid, namespace)', refId: 'namespaces' },
  definition: 'label_values(ot_policy_valid, namespace)',
  includeAll: true,
  allValue: '.*',
  multi: false,
  current: { text: 'All', value: '$__all' },
  refresh: 2,
  sort: 1,
  hide: 0,
};

const columns = 24;
const sizes: Readonly<Record<Panel['shape'], { w: number; h: number }>> = {
  number: { w: 4, h: 4 },
  lines: { w: 12, h: 8 },
  stacked: { w: 12, h: 8 },
  bars: { w: 12, h: 8 },
};

interface Placed {
  id: number;
  gridPos: { x: number; y: number; w: number; h: number };
}

/** Panels from left to right, and below where a line is full. */
function laidOut(rows: readonly Row[]): Placed[] {
  const panels: Placed[] = [];
  let top = 0;
  for (const { title, panels: ofRow } of rows) {
    panels.push({
      id: panels.length + 1,
      gridPos: { x: 0, y: top, w: columns, h: 1 },
      ...{ type: 'row', title, collapsed: false, panels: [] },
    });
    top += 1;
    let [left, deepest] = [0, 0];
    for (const panel of ofRow) {
      const { w, h } = sizes[panel.shape];
      if (left + w > columns) [left, top, deepest] = [0, top + deepest, 0];
      panels.push(panelJson(panel, panels.length + 1, { x: left, y: top, w, h }));
      left += w;
      deepest = Math.max(deepest, h);
    }
    top += deepest;
  }
  return panels;
}

const panelJson = (panel: Panel, id: number, gridPos: Placed['gridPos']) => ({
  id,
  title: panel.title,
  description: panel.description,
  type: types[panel.shape],
  datasource: prometheus,
  gridPos,
  links: (panel.alerts ?? []).map((alert) => ({ ...link(`Runbook ${alert}`, runbookUrl(alert)), targetBlank: true })),
  fieldConfig: { defaults: fieldsOf(panel), overrides: [] },
  options: optionsOf(panel),
  targets: panel.queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: prometheus,
    expr,
    legendFormat: legend,
    range: !isOneValue(panel),
    instant: isOneValue(panel),
    editorMode: 'code',
  })),
});

const types = { lines: 'timeseries', stacked: 'timeseries', number: 'stat', bars: 'bargauge' } as const;

const isOneValue = ({ shape }: Panel) => shape === 'number' || shape === 'bars';

const fieldsOf = ({ unit, shape, redFrom, greenFrom }: Panel) => ({
  unit,
  min: 0,
  color: { mode: shape === 'number' ? 'thresholds' : 'palette-classic' },
  thresholds: { mode: 'absolute', steps: stepsOf(redFrom, greenFrom) },
  custom:
    shape === 'lines' || shape === 'stacked'
      ? {
          drawStyle: 'line',
          lineWidth: 1,
          fillOpacity: shape === 'stacked' ? 40 : 0,
          showPoints: 'auto',
          stacking: { mode: shape === 'stacked' ? 'normal' : 'none', group: 'A' },
        }
      : {},
});

function optionsOf({ shape }: Panel) {
  if (shape === 'number') return { colorMode: 'value', graphMode: 'none', reduceOptions: lastOf, textMode: 'auto' };
  if (shape === 'bars')
    return { displayMode: 'basic', orientation: 'horizontal', reduceOptions: lastOf, showUnfilled: true };
  return {
    legend: { showLegend: true, displayMode: 'table', placement: 'right', calcs: ['lastNotNull', 'max'] },
    tooltip: { mode: 'multi', sort: 'desc' },
  };
}

const lastOf = { calcs: ['lastNotNull'], fields: '', values: false };

function stepsOf(redFrom: number | undefined, greenFrom: number | undefined) {
  if (greenFrom !== undefined)
    return [
      { color: 'red', value: null },
      { color: 'green', value: greenFrom },
    ];
  return [{ color: 'green', value: null }, ...(redFrom === undefined ? [] : [{ color: 'red', value: redFrom }])];
}
