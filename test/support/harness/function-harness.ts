import { clientOf } from '../../../deploy/local/client.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { reflectingBy } from '../../../deploy/local/eventing/reflect.ts';
import { baseFolders, startInstalledServer } from '../../../deploy/local/installed-server.ts';
import { applyManifests } from '../../../deploy/manifests.ts';
import { admissionPolicyManifests } from '../../../knative/admission-policies.ts';
import { permissionManifests } from '../../../knative/permissions.ts';
import { timerAttributes } from '../../../shared/event-filter.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { KubernetesObject, ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import { withCaches } from '../../../shared/runtime/cache.ts';
import { serve } from '../../../shared/runtime/http.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { DomainEvent } from '../../../shared/runtime/publish.ts';
import { readSource } from '../../../shared/runtime/sources/read-source.ts';
import { telemetryOf } from '../../../shared/runtime/telemetry/telemetry.ts';
import { allowedSources, keyPair } from '../builders/images.ts';
import { trustPublicationKey } from '../builders/publications.ts';

/** An instance of a function: each call posts the event that Knative would, and resolves with the answer's status once all that was begun is done. */
export interface Instance {
  changed(resource: Resource, ref: ObjectReference, verb?: 'add' | 'update' | 'delete'): Promise<number>;
  sweep(): Promise<number>;
  audit(): Promise<number>;
  message(type: string, data: unknown, attributes?: Record<string, string>): Promise<number>;
}

/** A function with nothing around it but an API server: an event in, its writes out. */
export interface FunctionHarness extends Instance {
  /** A client of the administrator, for preparing and for looking. */
  kube: Kube;
  published: DomainEvent[];
  /** Another instance, whose client `through` wraps, for example to delay a request until after another one. Its clock may be ahead. */
  another(through: (kube: Kube) => Kube, aheadMs?: number): Instance;
  /** Another function on the same API server. */
  beside<Observed>(declaration: FunctionDeclaration<Observed>): Promise<Instance>;
  /** A client of that ServiceAccount. */
  as(account: { namespace: string; name: string }): Kube;
  close(): Promise<void>;
}

/** Serves one function against a real local API server, under a ServiceAccount that may do what it declares and no more, within its admission policy. */
export async function serveFunction<Observed>(declaration: FunctionDeclaration<Observed>): Promise<FunctionHarness> {
  const server = await startInstalledServer(baseFolders);
  const kube = clientOf(server);
  await kube.patch(ConfigMap, policyRef, { data: { allowedSources, inspectTimeout: '0s' } });
  await trustPublicationKey(kube);
  await kube.create(Secret, { metadata: { name: 's3-reader', namespace: 'vmdi-farm' }, data: keyPair });
  const published: DomainEvent[] = [];
  const ending = new AbortController();
  const ends: (() => Promise<void>)[] = [];
  const serveOne = async <T>(one: FunctionDeclaration<T>) => {
    const functions = [one as FunctionDeclaration];
    const manifests = [...permissionManifests(functions), ...admissionPolicyManifests(functions)];
    await applyManifests(kube, manifests as unknown as KubernetesObject[]);
    return (through: (kube: Kube) => Kube, aheadMs?: number) => instanceOf(one, through, aheadMs);
  };
  const instanceOf = <T>(one: FunctionDeclaration<T>, through: (kube: Kube) => Kube, aheadMs = 0): Instance => {
    const { name } = one;
    const client = clientOf(server, server.tokenFor({ namespace: operatorNamespace, name }));
    const reflecting = reflectingBy({ clock: realClock, signal: ending.signal });
    const { app, drain } = serve(one, {
      ...withCaches(through(client), one.caches, reflecting),
      telemetry: telemetryOf(name),
      now: () => realClock.now() + aheadMs,
      pause: async () => undefined,
      random: () => 0,
      readSource,
      publisher: { publish: (event) => void published.push(event), republish: () => undefined },
      gracePeriodMs: 0,
    });
    ends.push(drain);
    return posting(async (request) => {
      const response = await app.request('/', request);
      await drain();
      return response.status;
    });
  };
  const another = await serveOne(declaration);
  return {
    ...another((client) => client),
    kube,
    published,
    another,
    beside: async (one) => (await serveOne(one))((client) => client),
    as: (account) => clientOf(server, server.tokenFor(account)),
    close: async () => {
      ending.abort();
      for (const end of ends) await end();
      await server.close();
    },
  };
}

function posting(send: (request: RequestInit) => Promise<number>): Instance {
  let sent = 0;
  const post = (attributes: Record<string, string>, data: unknown = {}) => {
    const all = { specversion: '1.0', id: String(++sent), source: '/test', ...attributes };
    const headers = Object.entries(all).map(([key, value]): [string, string] => [`ce-${key}`, value]);
    return send({
      method: 'POST',
      headers: [...headers, ['content-type', 'application/json']],
      body: JSON.stringify(data),
    });
  };
  return {
    changed: ({ apiVersion, kind }, ref, verb = 'update') =>
      post({
        type: `dev.knative.apiserver.ref.${verb}`,
        apiversion: apiVersion,
        kind,
        name: ref.name,
        ...(ref.namespace ? { namespace: ref.namespace } : {}),
      }),
    sweep: () => post(timerAttributes('sweep')),
    audit: () => post(timerAttributes('audit')),
    message: (type, data, attributes) => post({ ...attributes, type }, data),
  };
}
