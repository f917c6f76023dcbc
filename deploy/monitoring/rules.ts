import { operatorNamespace, partOf } from '../../shared/operator.ts';
import { type Alert, type Recording, runbookUrl } from './alert.ts';

/** The groups of rules as Prometheus itself reads them, too. */
export const ruleGroups = (alerts: readonly Alert[], recordings: readonly Recording[]) => [
  ...(recordings.length > 0 ? [{ name: 'ot-functions.recordings', rules: recordings }] : []),
  { name: 'ot-functions.alerts', rules: alerts.map(ruleOf) },
];

/** The same as the Prometheus operator takes it. */
export const prometheusRule = (alerts: readonly Alert[], recordings: readonly Recording[]) => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: {
    name: 'ot-functions',
    namespace: operatorNamespace,
    labels: partOf,
  },
  spec: { groups: ruleGroups(alerts, recordings) },
});

const ruleOf = ({ name, severity, expr, for: lasting, summary, description }: Alert) => ({
  alert: name,
  expr,
  for: lasting,
  labels: { severity },
  annotations: { summary, description, runbook_url: runbookUrl(name) },
});
