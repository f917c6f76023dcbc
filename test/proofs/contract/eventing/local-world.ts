import { startApiServer } from '../../../../deploy/local/api-server/api-server.ts';
import { clientOf } from '../../../../deploy/local/client.ts';
import { realClock } from '../../../../deploy/local/clock.ts';
import type { Handler } from '../../../../deploy/local/eventing/address.ts';
import { startEventing } from '../../../../deploy/local/eventing/start.ts';
import { applyManifests, readManifests } from '../../../../deploy/manifests.ts';
import { startFunctions } from './functions-under-test.ts';
import { Namespace } from './objects.ts';
import { functionsService, type World } from './world.ts';

/** Makes the contract's world in this process: the local API server and eventing, functions over HTTP. */
export async function openLocalWorld(): Promise<World> {
  const server = await startApiServer({ clock: realClock });
  const kube = clientOf(server);
  await applyManifests(kube, await readManifests('deploy/local/eventing/crds'));
  const namespace = 'contract';
  const otherNamespace = 'contract-other';
  for (const name of [namespace, otherNamespace]) await kube.create(Namespace, { metadata: { name } });
  const functions = await startFunctions('127.0.0.1');
  const passOn: Handler = (request) =>
    fetch(new Request(functions.urlOf(new URL(request.url).pathname.slice(1)), request));
  const eventing = await startEventing({
    kube,
    kubeOf: (account) => clientOf(server, server.tokenFor(account)),
    functions: (name) => (name === functionsService ? passOn : undefined),
  });
  return {
    kube,
    namespace,
    otherNamespace,
    functions,
    ingress: eventing.url,
    close: async () => {
      await eventing.close();
      await functions.close();
      await server.close();
    },
  };
}
