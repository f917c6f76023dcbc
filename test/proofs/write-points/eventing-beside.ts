import { startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { clientOf } from '../../../deploy/local/client.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import type { Handler } from '../../../deploy/local/eventing/address.ts';
import { Trigger } from '../../../deploy/local/eventing/resources.ts';
import { type Eventing, startEventing } from '../../../deploy/local/eventing/start.ts';
import { applyManifests, generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { pingAttributes } from '../../../shared/event-filter.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

/** The part of Knative, simulated for an API server that has none of its objects. */
export interface EventingBeside {
  /** The Broker, for events of pipelines and functions. */
  broker: string;
  /** The Broker's ingress, with what it knows of its deliveries. */
  eventing: Eventing;
  /** Lets both timers tick now, and resolves when all that came of it is delivered. */
  tick(): Promise<void>;
  /** The Triggers whose event was not accepted, once for each event. */
  letters(): readonly string[];
  close(): Promise<void>;
}

export interface BesideOptions {
  /** The API server whose objects are watched. */
  kube: Kube;
  /** The running functions: other functions get no Trigger. */
  names: readonly string[];
  handler(name: string): Handler | undefined;
  schedules: Readonly<Record<'sweep' | 'audit', string>>;
}

/**
 * Simulates Knative by the generated manifests, which lie in an API server of their own, so that neither a real Knative nor
 * another controller takes them for its own; the sources watch the one that is given.
 */
export async function startEventingBeside(options: BesideOptions): Promise<EventingBeside> {
  const { kube, names, handler, schedules } = options;
  const server = await startApiServer({ clock: realClock });
  const own = clientOf(server);
  await applyManifests(own, await readManifests('deploy/local/eventing/crds', 'deploy/base'));
  const manifests = await readManifests(...generatedFolders);
  const isOfOthers = ({ kind, metadata }: { kind: string; metadata: { name: string } }) =>
    kind === Trigger.kind && !names.includes(metadata.name);
  await applyManifests(
    own,
    manifests.filter((manifest) => !isOfOthers(manifest)),
  );
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
  const broker = `${eventing.url}/${operatorNamespace}/default`;
  return {
    broker,
    eventing,
    letters: () => letters,
    tick: async () => {
      await Promise.all([postTimer(broker, 'sweep'), postTimer(broker, 'audit')]);
      await eventing.idle();
    },
    close: async () => {
      await eventing.close();
      await server.close();
    },
  };
}

async function postTimer(broker: string, name: 'sweep' | 'audit'): Promise<void> {
  const attributes = { specversion: '1.0', id: crypto.randomUUID(), ...pingAttributes(name) };
  const headers = Object.entries(attributes).map(([key, value]): [string, string] => [`ce-${key}`, value]);
  const response = await fetch(broker, {
    method: 'POST',
    headers: [...headers, ['content-type', 'application/json']],
    body: '{}',
  });
  if (!response.ok) throw new Error(`expected the Broker to take a timer's event, found ${response.status}`);
}
