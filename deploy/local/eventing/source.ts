import { guessedPlural } from '../../../knative/plural.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { defineResource, type KubernetesObject, type Resource } from '../../../shared/kinds/resource.ts';
import type { Kube, WatchEvent } from '../../../shared/runtime/kube.ts';
import { newEvent, type Sending, send } from './adapter.ts';
import type { Event } from './event.ts';
import { reflect } from './reflect.ts';
import type { ApiServerSource, LabelSelector } from './resources.ts';

/** What an ApiServerSource works with. */
interface SourceContext extends Sending {
  kube: Pick<Kube, 'pages' | 'watch' | 'list'>;
  /** The API server as the adapter dials it; it becomes the source attribute. */
  host: string;
  running(work: Promise<unknown>): void;
}

/**
 * Runs an ApiServerSource until the signal aborts: one watch for each resource and namespace, its events sent one at a time, from now on.
 * What existed before, or changed while a watch was down, is never told. Throws where a resource is not served, as the real adapter exits.
 */
export async function runApiServerSource(source: ApiServerSource, context: SourceContext): Promise<void> {
  const namespaces = await watchedNamespaces(source, context);
  const watches = source.spec.resources.flatMap((wanted) => namespaces.map((namespace) => ({ wanted, namespace })));
  await Promise.all(
    watches.map(({ wanted, namespace }) => {
      let last: Promise<unknown> = Promise.resolve();
      const options = {
        ...(namespace === undefined ? {} : { namespace }),
        ...(wanted.selector ? { labelSelector: selectorText(wanted.selector) } : {}),
      };
      return reflect(context.kube, resourceOf(wanted), options, context, {
        changed: (change) => {
          // Only the signal makes this fail, and then the queue is dropped, as it is with a killed adapter.
          last = last.then(() => send(eventOf(source, change, context), context)).catch(() => {});
          context.running(last);
        },
      });
    }),
  );
}

const words = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;

/** The event for a change, in the source's mode. */
function eventOf(
  source: ApiServerSource,
  { type, object }: WatchEvent<KubernetesObject>,
  { host, clock }: Pick<SourceContext, 'host' | 'clock'>,
): Event {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace = '' } = metadata;
  const isReference = source.spec.mode === 'Reference';
  const attributes = {
    apiversion: apiVersion,
    kind,
    name,
    namespace,
    source: host,
    subject: `/apis/${apiVersion}/namespaces/${namespace}/${guessedPlural(kind)}/${name}`,
    type: `dev.knative.apiserver.${isReference ? 'ref' : 'resource'}.${words[type]}`,
  };
  const data = new TextEncoder().encode(
    JSON.stringify(isReference ? { kind, ...(namespace ? { namespace } : {}), name, apiVersion } : object),
  );
  return newEvent(
    attributes,
    { contentType: 'application/json', data },
    clock.now(),
    source.spec.ceOverrides?.extensions,
  );
}

/** The kind under its guessed plural, its objects exactly as the API server sends them. */
function resourceOf({ apiVersion, kind }: { apiVersion: string; kind: string }): Resource {
  const resource = defineResource({ apiVersion, kind, plural: guessedPlural(kind) }, {});
  return { ...resource, parse: (value) => Object.assign({ apiVersion, kind }, value) as KubernetesObject };
}

/** `undefined` stands for one watch over all namespaces. */
async function watchedNamespaces(source: ApiServerSource, { kube, namespace }: SourceContext) {
  const selector = source.spec.namespaceSelector;
  if (!selector) return [namespace];
  const labelSelector = selectorText(selector);
  if (labelSelector === '') return [undefined];
  return (await kube.list(Namespace, { labelSelector })).map(({ metadata }) => metadata.name);
}

/** A label selector as the API server takes it in a query. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join(',');
}
