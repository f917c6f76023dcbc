import { type KubernetesObject, keyOf, type Resource } from '../../../shared/kinds/resource.ts';
import { hasStatus } from '../../../shared/runtime/errors.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { type Clock, realClock } from '../clock.ts';
import { checkAccess as checkAccessOf } from './access-check.ts';
import { type Handler, resolver } from './address.ts';
import { brokerIngress, deadLetterSinkOf } from './broker.ts';
import type { DeliveryResult } from './deliver.ts';
import { type Faults, perturb } from './faults.ts';
import { listen } from './listen.ts';
import { eventingObjects } from './objects.ts';
import { type ApiServerSource, Broker, Trigger } from './resources.ts';
import { sourceAdapters } from './sources.ts';
import { type Report, reporter } from './status.ts';
import { troubleOf } from './trouble.ts';
import { workInProgress } from './work.ts';

export interface EventingOptions {
  kube: Kube;
  /** The API server as a ServiceAccount sees it, for sources to watch under their own; without it they use `kube`. */
  kubeOf?(account: { namespace: string; name: string }): Kube;
  clock?: Clock;
  /** What answers for a Service of this name, in this process. */
  functions(name: string): Handler | undefined;
  /** Port of the Broker ingress on loopback; 0, the default, takes a free one. */
  port?: number;
  /** Other schedules for PingSources, by the last word of their names: `{ sweep: '* * * * * *' }`. */
  schedules?: Readonly<Record<string, string>>;
  faults?: Faults;
  /** The API server's address as events name it in their source attribute. */
  host?: string;
  /** Called with every event that was lost before it reached its sink. */
  onLost?(line: string): void;
}

/** How often each result came about, by Trigger (namespace/name). */
type Deliveries = Record<string, Partial<Record<DeliveryResult, number>>>;

/** The running eventing of a local cluster. */
export interface Eventing {
  /** Base of the Broker ingress: events are posted to `<url>/<namespace>/<broker>`. */
  url: string;
  deliveries(): Deliveries;
  /** Replaces the faults in force; `{}` ends them. */
  inject(faults: Faults): void;
  /** Kills all sources; what changes until `startSources` is never told. */
  stopSources(): void;
  startSources(): Promise<void>;
  /** Resolves when nothing is being delivered any more, retries and held-back events included. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Runs Knative's Brokers, Triggers, ApiServerSources and PingSources in this process, from the objects the API server
 * has of them and as they change. Resolves when every source that can run is watching. Throws where the kinds are not
 * served: apply deploy/local/eventing/crds first.
 */
export async function startEventing(options: EventingOptions): Promise<Eventing> {
  const { kube, clock = realClock } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const work = workInProgress();
  const counts: Deliveries = {};
  const { objects, start } = eventingObjects(kube, { clock, signal });
  const faults = { now: options.faults ?? {}, perturb: perturb(options.faults ?? {}) };

  const ingress: Handler = async (request) => app.fetch(request);
  const server = await listen(ingress, options.port ?? 0);
  const resolve = resolver({ url: server.url, ingress, functions: options.functions });
  const app = brokerIngress({
    clock,
    signal,
    resolve,
    broker: (namespace, name) => objects.brokers.get(`${namespace}/${name}`),
    triggers: (namespace, broker) =>
      [...objects.triggers.values()].filter(
        ({ metadata, spec }) => metadata.namespace === namespace && spec.broker === broker,
      ),
    isReady: (trigger) => troubleOf(trigger, objects.brokers, resolve) === undefined,
    isOut: () => faults.now.outage === true,
    perturb: (passage) => faults.perturb(passage),
    count: (trigger, result) => {
      counts[trigger] ??= {};
      counts[trigger][result] = (counts[trigger][result] ?? 0) + 1;
    },
    running: work.add,
  });

  const report = reporter(kube, clock.now);
  const say = (resource: Resource, object: KubernetesObject, what: Report) => work.add(report(resource, object, what));
  const addressesOf = (trigger: Trigger) => {
    const { namespace = '' } = trigger.metadata;
    const sink = deadLetterSinkOf(trigger, objects.brokers.get(`${namespace}/${trigger.spec.broker}`));
    return {
      subscriberUri: resolve(trigger.spec.subscriber, namespace).url,
      ...(sink ? { deadLetterSinkUri: resolve(sink, namespace).url } : {}),
    };
  };
  const reportAll = () => {
    for (const broker of objects.brokers.values()) {
      say(Broker, broker, { fields: { address: { name: 'http', url: `${server.url}/${keyOf(broker.metadata)}` } } });
    }
    for (const trigger of objects.triggers.values()) {
      const trouble = troubleOf(trigger, objects.brokers, resolve);
      say(Trigger, trigger, { fields: trouble ? {} : addressesOf(trigger), trouble });
    }
  };

  const checkAccess = async (source: ApiServerSource) => {
    if (options.kubeOf) await checkAccessOf(source, kube);
  };
  const { kubeOf = () => kube, schedules = {}, host = 'https://10.96.0.1:443', onLost = () => {} } = options;
  const adapters = sourceAdapters(objects, {
    kubeOf,
    checkAccess,
    clock,
    resolve,
    schedules,
    host,
    say,
    onLost,
    running: work.add,
  });
  const sources = { areOn: true };
  const startSources = async () => {
    if (sources.areOn) await adapters.reconcile();
  };
  const close = async () => {
    controller.abort();
    sources.areOn = false;
    adapters.stop();
    await work.idle();
    await server.close();
  };
  try {
    await start({ ofSubscriptions: reportAll, ofSources: () => work.add(startSources()) });
    await startSources();
  } catch (error) {
    await close();
    if (!hasStatus(error, 404)) throw error;
    throw new Error(
      "expected the API server to serve Knative's kinds, found none: apply deploy/local/eventing/crds first",
    );
  }
  return {
    url: server.url,
    close,
    idle: work.idle,
    deliveries: () => structuredClone(counts),
    inject: (next) => Object.assign(faults, { now: next, perturb: perturb(next) }),
    stopSources: () => {
      sources.areOn = false;
      adapters.stop();
    },
    startSources: async () => {
      sources.areOn = true;
      await startSources();
    },
  };
}
