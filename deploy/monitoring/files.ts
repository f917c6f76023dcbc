import { operatorNamespace } from '../../shared/operator.ts';
import { documentOf, headerOf } from '../yaml-text.ts';
import { alerts } from './alerts.ts';
import type { Dashboard } from './dashboard.ts';
import { grafanaJson } from './grafana.ts';
import { imagesCost } from './images-cost.ts';
import { imagesWait } from './images-wait.ts';
import { podMonitor } from './pod-monitor.ts';
import { recordings } from './recordings.ts';
import { prometheusRule } from './rules.ts';
import { workspacesMachines } from './workspaces-machines.ts';

/** The folder that the generated files are in. */
export const dashboardsFolder = new URL('./', import.meta.url);

export const dashboards: readonly Dashboard[] = [imagesWait, imagesCost, workspacesMachines];

/** The header of the YAML files of this folder, and of what the Helm chart has of them. */
export const header = headerOf('deploy/monitoring/*.ts');

/** The text of every generated file of this folder, by its name. */
export const dashboardFiles = (): Map<string, string> =>
  new Map([
    ...dashboards.map((dashboard): [string, string] => {
      const others = dashboards.filter((other) => other !== dashboard);
      return [`${dashboard.uid}.json`, `${JSON.stringify(grafanaJson(dashboard, others), undefined, 2)}\n`];
    }),
    ['prometheus-rule.yaml', yamlOf(prometheusRule(alerts, recordings))],
    ['pod-monitor.yaml', yamlOf(podMonitor)],
    ['kustomization.yaml', yamlOf(kustomization)],
  ]);

const yamlOf = (object: object) => header + documentOf(object);

/** Rules, monitor, and the dashboards as the ConfigMap that Grafana's sidecar looks for. */
const kustomization = {
  apiVersion: 'kustomize.config.k8s.io/v1beta1',
  kind: 'Kustomization',
  resources: ['prometheus-rule.yaml', 'pod-monitor.yaml'],
  configMapGenerator: [
    {
      name: 'ot-functions-dashboards',
      namespace: operatorNamespace,
      files: dashboards.map(({ uid }) => `${uid}.json`),
      options: { disableNameSuffixHash: true, labels: { grafana_dashboard: '1' } },
    },
  ],
};
