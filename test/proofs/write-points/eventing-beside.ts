import { startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { clientOf } from '../../../deploy/local/client.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import type { Handler } from '../../../deploy/local/eventing/address.ts';
import { Broker, Trigger } from '../../../deploy/local/eventing/resources.ts';
import { type Eventing, startEventing } from '../../../deploy/local/eventing/start.ts';
import { applyManifests, generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { timerAttributes } from '../../../shared/event-filter.ts';
import type { System } from '../../../shared/function.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { operatorNamespace, publicBroker } from '../../../shared/operator.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

/** A simulated Knative for an API server without Knative's objects. */
export interface EventingBeside {
  /** The Broker, for events of pipelines and functions. */
  broker: string;
  /** The Broker's ingress, with its deliveries. */
  eventing: Eventing;
  /** Fires both timers, and resolves when all resulting events are delivered. */
  tick(): Promise<void>;
  /** The Triggers whose event was not delivered, once per event. */
  letters(): readonly string[];
  close(): Promise<void>;
}

export interface BesideOptions {
  /** The API server whose objects are watched. */
  kube: Kube;
  /** The functions: only their Triggers exist. */
  names: readonly string[];
  handler(name: string): Handler | undefined;
  schedules: Readonly<Record<'sweep' | 'audit', string>>;
}

/**
 * Simulates Knative with the generated manifests. They are in a separate API server, so that no real Knative handles them; the sources
 * watch the given one.
 */
export async function startEventingBeside(options: BesideOptions): Promise<EventingBeside> {
  const { kube, names, handler, schedules } = options;
  const server = await startApiServer({ clock: realClock });
  const own = clientOf(server);
  await applyManifests(own, await readManifests('deploy/local/eventing/crds', 'deploy/base'));
  const manifests = await readManifests(...generatedFolders);
  const isOfOthers = (manifest: KubernetesObject) =>
    manifest.kind === Trigger.kind && !names.includes(Trigger.parse(manifest).spec.subscriber.ref?.name ?? '');
  await applyManifests(
    own,
    manifests.filter((manifest) => !isOfOthers(manifest)),
  );
  const systems = manifests
    .filter(({ kind }) => kind === Broker.kind)
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== publicBroker) as System[];
  const letters: string[] = [];
  const takeLetter: Handler = async (request) => {
    letters.push(new URL(request.url).pathname);
    return new Response(null, { status: 202 });
  };
  const eventing = await startEventing({
    kube: own,
    kubeOf: () => kube,
    functions: (name) => (name === 'dead-letters' ? takeLetter : handler(name)),
    schedules,
  });
  const brokerOf = (name: string) => `${eventing.url}/${operatorNamespace}/${name}`;
  return {
    broker: brokerOf(publicBroker),
    eventing,
    letters: () => letters,
    tick: async () => {
      await Promise.all(
        systems.flatMap((system) =>
          (['sweep', 'audit'] as const).map((timer) => postTimer(brokerOf(system), timerAttributes(timer, system))),
        ),
      );
      await eventing.idle();
    },
    close: async () => {
      await eventing.close();
      await server.close();
    },
  };
}

async function postTimer(broker: string, tick: Record<string, string>): Promise<void> {
  const attributes = { specversion: '1.0', id: crypto.randomUUID(), ...tick };
  const headers = Object.entries(attributes).map(([key, value]): [string, string] => [`ce-${key}`, value]);
  const response = await fetch(broker, {
    method: 'POST',
    headers: [...headers, ['content-type', 'application/json']],
    body: '{}',
  });
  if (!response.ok) throw new Error(`expected the Broker to take a timer's event, found ${response.status}`);
}
