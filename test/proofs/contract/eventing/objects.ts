import * as z from 'zod';
import { defineResource, type KubernetesObject, type Resource } from '../../../../shared/kinds/resource.ts';
import type { Kube } from '../../../../shared/runtime/kube.ts';

const Status = z.looseObject({
  observedGeneration: z.number().optional(),
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
});

const kind = (apiVersion: string, name: string, plural: string, namespaced = true) =>
  defineResource({ apiVersion, kind: name, plural, namespaced }, { status: Status.optional() });

export const Namespace = kind('v1', 'Namespace', 'namespaces', false);
export const Service = kind('v1', 'Service', 'services');
export const EndpointSlice = kind('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');
export const Broker = kind('eventing.knative.dev/v1', 'Broker', 'brokers');
export const Trigger = kind('eventing.knative.dev/v1', 'Trigger', 'triggers');
export const ApiServerSource = kind('sources.knative.dev/v1', 'ApiServerSource', 'apiserversources');
export const PingSource = kind('sources.knative.dev/v1', 'PingSource', 'pingsources');

const patienceMs = 200_000;

/**
 * Resolves when every object of that kind in the namespace has condition Ready True for its present generation.
 * Throws when over three minutes have passed, saying which has not.
 */
export async function allReady(kube: Kube, resource: Resource, namespace: string): Promise<void> {
  const waiting = new Set<string>();
  const tooLate = AbortSignal.timeout(patienceMs);
  for (;;) {
    if (tooLate.aborted) throw new Error(`expected each ${resource.kind} to become ready, still not: ${[...waiting]}`);
    let resourceVersion = '';
    waiting.clear();
    const look = (object: KubernetesObject) =>
      isReady(object) ? waiting.delete(object.metadata.name) : waiting.add(object.metadata.name);
    for await (const page of kube.pages(resource, { namespace })) {
      resourceVersion = page.resourceVersion;
      page.items.forEach(look);
    }
    if (waiting.size === 0) return;
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, tooLate]);
    await kube.watch(resource, { namespace, resourceVersion, signal }, ({ object }) => {
      look(object);
      if (waiting.size === 0) done.abort();
    });
  }
}

function isReady(object: KubernetesObject) {
  const { status } = object as { status?: z.infer<typeof Status> };
  if ((status?.observedGeneration ?? 0) < object.metadata.generation) return false;
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
