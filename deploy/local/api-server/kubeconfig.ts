import { stringify } from 'yaml';

/** A kubeconfig that points at `url`; kubectl itself sends no token over plain HTTP and so is the admin. */
export const kubeconfigFor = (url: string, token?: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    // The JavaScript client speaks plain HTTP only where this is set.
    clusters: [{ name: 'local', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'user', user: token ? { token } : {} }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'user', namespace: 'default' } }],
    'current-context': 'local',
  });
