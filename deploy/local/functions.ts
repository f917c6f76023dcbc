import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { withCaches } from '../../shared/runtime/cache.ts';
import { serve } from '../../shared/runtime/http.ts';
import { openStackClients } from '../../shared/runtime/openstack/clouds.ts';
import { publisher } from '../../shared/runtime/publish.ts';
import { readSource } from '../../shared/runtime/sources/read-source.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';
import type { ApiServer } from './api-server/api-server.ts';
import { clientOf } from './client.ts';
import type { Clock } from './clock.ts';
import type { Handler } from './eventing/address.ts';
import { reflectingBy } from './eventing/reflect.ts';

/** The functions of a local cluster, each under its own ServiceAccount and as many times as asked for. */
interface LocalFunctions {
  handler(name: string): Handler | undefined;
  /** Resolves when nothing that a function has begun is still under way. */
  drain(): Promise<void>;
}

/** Serves the functions in this process; several replicas share nothing and answer round robin. */
export function serveFunctions(
  declarations: readonly FunctionDeclaration[],
  options: {
    server: Pick<ApiServer, 'kubeconfig' | 'tokenFor'>;
    clock: Clock;
    /** The Broker for domain events, while there is one. */
    sink: () => string | undefined;
    replicas: Readonly<Record<string, number>>;
    gracePeriodMs: number;
    fetchOpenStack: typeof fetch;
  },
): LocalFunctions {
  const ending = new AbortController();
  const served = new Map(
    declarations.map((declaration) => {
      const replicas = replicasOf(declaration, ending.signal, options);
      let turn = 0;
      const handler: Handler = async (request) => {
        const replica = replicas[turn++ % replicas.length];
        return replica ? replica.app.fetch(request) : new Response(null, { status: 503 });
      };
      return [declaration.name, { replicas, handler }] as const;
    }),
  );
  return {
    handler: (name) => served.get(name)?.handler,
    drain: async () => {
      ending.abort();
      await Promise.all([...served.values()].flatMap(({ replicas }) => replicas.map(({ drain }) => drain())));
    },
  };
}

function replicasOf(
  declaration: FunctionDeclaration,
  signal: AbortSignal,
  { server, clock, sink, replicas, gracePeriodMs, fetchOpenStack }: Parameters<typeof serveFunctions>[1],
) {
  const source = `/apis/v1/namespaces/${operatorNamespace}/services/${declaration.name}`;
  return Array.from({ length: replicas[declaration.name] ?? 1 }, () => {
    const kube = clientOf(server, server.tokenFor({ namespace: operatorNamespace, name: declaration.name }));
    const telemetry = telemetryOf(declaration.name);
    const reflecting = reflectingBy({ clock, signal });
    return serve(declaration, {
      ...withCaches(kube, declaration.caches, reflecting),
      telemetry,
      clouds: openStackClients({ kube, telemetry, fetch: fetchOpenStack, now: clock.now }),
      readSource,
      after: clock.after,
      now: clock.now,
      pause: (milliseconds) => sleep(milliseconds),
      random: Math.random,
      publisher: publisher(sink, source),
      gracePeriodMs,
    });
  });
}
