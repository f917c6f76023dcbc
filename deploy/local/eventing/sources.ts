import { timerOf } from '../../../shared/event-filter.ts';
import { type KubernetesObject, keyOf, type Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import type { Sending } from './adapter.ts';
import type { Resolve } from './address.ts';
import type { EventingObjects } from './objects.ts';
import { runPingSource } from './ping.ts';
import { ApiServerSource, type Destination, PingSource } from './resources.ts';
import { runner } from './runner.ts';
import { runApiServerSource } from './source.ts';
import type { Report } from './status.ts';

interface SourcesOptions {
  /** The API server as a source sees it, whose ServiceAccount this is. */
  kubeOf(account: { namespace: string; name: string }): Pick<Kube, 'pages' | 'watch' | 'list'>;
  /** Throws where that ServiceAccount may not do what Knative asks for before it starts the source. */
  checkAccess(source: ApiServerSource): Promise<void>;
  clock: Clock;
  resolve: Resolve;
  host: string;
  schedules: Readonly<Record<string, string>>;
  running(work: Promise<unknown>): void;
  say(resource: Resource, object: KubernetesObject, what: Report): void;
  onLost(line: string): void;
}

type Source = KubernetesObject & { spec: { sink: Destination } };

/** Runs an adapter for each source there is; `reconcile` after each change of them. */
export function sourceAdapters(objects: EventingObjects, options: SourcesOptions) {
  const { clock, running, resolve, say } = options;
  const sending = (source: Source, signal: AbortSignal): Sending => {
    const namespace = source.metadata.namespace ?? '';
    const sink = resolve(source.spec.sink, namespace);
    const lost: Sending['lost'] = ({ attributes: { type, subject = '' } }, reason) =>
      options.onLost(`${source.kind} ${keyOf(source.metadata)} lost ${type} ${subject}: ${reason}`);
    return { clock, signal, namespace, sink, lost };
  };
  const runs = <T extends Source>(resource: Resource<T>, start: (source: T, sending: Sending) => Promise<void>) =>
    runner<T>(
      async (source, signal) => {
        const context = sending(source, signal);
        await start(source, context);
        say(resource, source, { fields: { sinkUri: context.sink.url } });
      },
      {
        clock,
        onFailure: (source, error) => {
          const message = error instanceof Error ? error.message : String(error);
          say(resource, source, { fields: {}, trouble: { reason: 'NotRunning', message } });
        },
      },
    );
  const apiServer = runs(ApiServerSource, async (source, context) => {
    const kube = options.kubeOf({ namespace: context.namespace, name: source.spec.serviceAccountName });
    await options.checkAccess(source);
    return runApiServerSource(source, { ...context, kube, host: options.host, running });
  });
  const ping = runs(PingSource, async (source, context) =>
    runPingSource(source, options.schedules[timerOf(source.metadata.name)] ?? source.spec.schedule, {
      ...context,
      running,
    }),
  );
  return {
    reconcile: async () => {
      await Promise.all([
        apiServer.reconcile(objects.apiServerSources.values()),
        ping.reconcile(objects.pingSources.values()),
      ]);
    },
    stop: () => {
      apiServer.stop();
      ping.stop();
    },
  };
}
