import { randomUUID } from 'node:crypto';
import project from '../../../package.json' with { type: 'json' };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Who speaks: service, version and, in a pod, which one, by OpenTelemetry's names. POD_NAME, POD_NAMESPACE, POD_UID and
 * NODE_NAME come from the downward API; Knative allows it only behind a feature flag, and then HOSTNAME is the pod's name.
 */
export function resourceAttributes(serviceName: string, env: Environment = process.env): Record<string, string> {
  const isInCluster = env.KUBERNETES_SERVICE_HOST !== undefined;
  const found: Record<string, string | undefined> = {
    'service.name': serviceName,
    'service.namespace': 'ot-functions',
    'service.version': project.version,
    'service.instance.id': env.POD_UID ?? randomUUID(),
    'k8s.pod.name': env.POD_NAME ?? (isInCluster ? env.HOSTNAME : undefined),
    'k8s.pod.uid': env.POD_UID,
    'k8s.namespace.name': env.POD_NAMESPACE,
    'k8s.node.name': env.NODE_NAME,
    // What Knative Serving tells a revision; a Deployment is no function as a service.
    'faas.name': env.K_SERVICE,
    'faas.version': env.K_REVISION,
    'faas.instance': env.K_SERVICE && (env.POD_NAME ?? env.HOSTNAME),
  };
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}
