/** What the tests of this folder make in the namespace of a workspace. */
export const namespace = 'ws-lab';

const labels = { app: 'dns' };

export const aPodSpec = (container: object = {}, spec: object = {}) => ({
  containers: [{ name: 'dns', image: 'registry/dns:1', ...container }],
  ...spec,
});

export const aDeployment = (pod: object = aPodSpec(), spec: object = {}, annotations: Record<string, string> = {}) => ({
  metadata: { name: 'dns', namespace },
  spec: {
    strategy: { type: 'Recreate' },
    selector: { matchLabels: labels },
    template: { metadata: { labels, annotations }, spec: pod },
    ...spec,
  },
});

export const aJob = (spec: object = {}) => ({
  metadata: { name: 'roles', namespace },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'runner', image: 'ansible' }] } }, ...spec },
});
