import { type Cases, type Step, step } from './case.ts';
import { merge } from './paths.ts';

const jobs = '/apis/batch/v1/namespaces/{ns}/jobs';
const services = '/api/v1/namespaces/{ns}/services';

const template = (spec: object = {}, metadata: object = {}) => ({
  metadata,
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }], ...spec },
});

/** A dry run, so that no controller starts to run it. */
const job = (spec: object, status = 201) =>
  step(`POST ${jobs}?dryRun=All`, status, { body: { metadata: { name: 'j' }, spec } });

/** The answer with addresses, which a server chooses, by one name. */
const withoutAddresses = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll(/"10\.\d+\.\d+\.\d+"/g, '"<address>"'));

const service = (request: string, status: number, body: object, more: Partial<Step> = {}) =>
  step(`${request.replace(' ', ` ${services}`)}`, status, { body, pick: withoutAddresses, ...more });

const selector = { app: 'dns' };
const ports = [{ port: 53, protocol: 'UDP' }];

/** A Job that no controller runs. */
const suspended = { suspend: true, template: template() };

export const workloadCases: Cases = {
  'a Job is completed, and selects its Pods by its uid': [
    job({ template: template() }),
    job({ template: template({}, { labels: { app: 'a' } }), backoffLimit: 2, activeDeadlineSeconds: 60 }),
    job({ template: template(), parallelism: 2 }),
    job({ template: template({ restartPolicy: 'Always' }) }, 422),
    job({ template: { spec: { containers: [{ name: 'c', image: 'c' }] } } }, 422),
    job({ template: { spec: { restartPolicy: 'Never' } } }, 422),
  ],
  'a Job keeps its template, and leaves its Pods behind when nothing else is said': [
    step(`POST ${jobs}`, 201, {
      body: { metadata: { name: 'j' }, spec: suspended },
      pick: (body) => (body as { spec: { suspend: boolean } }).spec.suspend,
    }),
    step(`PATCH ${jobs}/j?dryRun=All`, 422, { type: merge, body: { spec: { completions: 2 } } }),
    step(`PATCH ${jobs}/j?dryRun=All`, 422, {
      type: merge,
      body: { spec: { template: { spec: { dnsPolicy: 'None', dnsConfig: { nameservers: ['10.0.0.1'] } } } } },
    }),
    step(`PATCH ${jobs}/j?dryRun=All`, 200, {
      type: merge,
      body: { spec: { backoffLimit: 3, activeDeadlineSeconds: 10, ttlSecondsAfterFinished: 5 } },
      pick: () => 'what may change',
    }),
    step(`DELETE ${jobs}/j?dryRun=All`, 200, {
      warnings: [
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
      ],
      pick: () => 'the warning',
    }),
    step(`DELETE ${jobs}/j`, 200, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
      warnings: [],
      pick: () => 'no warning',
    }),
  ],
  'a Service gets an address, and keeps it': [
    service('POST ', 201, { metadata: { name: 's' }, spec: { selector, ports } }, { save: { ip: 'spec.clusterIP' } }),
    service(
      'PUT /s',
      200,
      { metadata: { name: 's' }, spec: { selector, ports: [{ port: 54, protocol: 'UDP' }] } },
      { answer: { spec: { clusterIP: '{ip}' } } },
    ),
    service('PATCH /s', 422, { spec: { clusterIP: '10.96.0.77', clusterIPs: ['10.96.0.77'] } }, { type: merge }),
    service('PATCH /s', 200, { spec: { clusterIP: '{ip}' } }, { type: merge, pick: () => 'nothing changed' }),
    service('POST ', 201, { metadata: { name: 'headless' }, spec: { clusterIP: 'None', selector, ports } }),
    service('POST ', 422, { metadata: { name: 'x' }, spec: { selector } }),
    service('POST ', 422, { metadata: { name: 'x' }, spec: { ports: [{ port: 0 }] } }),
    service('POST ', 422, { metadata: { name: 'x' }, spec: { ports: [{ port: 1 }, { port: 2, name: 'b' }] } }),
    service('POST ', 422, { metadata: { name: '1x' }, spec: { ports } }),
  ],
  'a NetworkPolicy is completed': [
    step('POST /apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies', 201, {
      body: { metadata: { name: 'deny-all' }, spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] } },
    }),
    step('POST /apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies', 201, {
      body: {
        metadata: { name: 'some' },
        spec: {
          podSelector: { matchLabels: { app: 'a' } },
          ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 53 }] }],
          egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
        },
      },
    }),
    step('POST /apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies', 201, {
      body: { metadata: { name: 'none' }, spec: {} },
    }),
  ],
  'a Deployment keeps its selector': [
    step('POST /apis/apps/v1/namespaces/{ns}/deployments', 201, {
      body: {
        metadata: { name: 'd' },
        spec: {
          replicas: 0,
          strategy: { type: 'Recreate' },
          selector: { matchLabels: selector },
          template: { metadata: { labels: selector }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
        },
      },
      pick: (body) => (body as { spec: unknown }).spec,
    }),
    step('PATCH /apis/apps/v1/namespaces/{ns}/deployments/d?dryRun=All', 422, {
      type: merge,
      body: { spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } } } } },
    }),
  ],
};
