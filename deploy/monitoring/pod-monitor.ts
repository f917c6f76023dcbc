import { operatorNamespace, partOf } from '../../shared/operator.ts';

/** Where every function serves its metrics. */
export const metricsPort = 9464;

/** Has the Prometheus operator scrape all functions that are awake, and the console. Knative Services declare no second port, so the pod's address is taken. */
export const podMonitor = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PodMonitor',
  metadata: {
    name: 'ot-functions',
    namespace: operatorNamespace,
    labels: partOf,
  },
  spec: {
    selector: { matchLabels: partOf },
    podMetricsEndpoints: [
      {
        path: '/metrics',
        interval: '15s',
        relabelings: [
          { action: 'keep', sourceLabels: ['__meta_kubernetes_pod_container_name'], regex: 'function|console' },
          {
            action: 'replace',
            sourceLabels: ['__meta_kubernetes_pod_ip'],
            regex: '(.+)',
            targetLabel: '__address__',
            replacement: `$1:${metricsPort}`,
          },
        ],
      },
    ],
  },
};
