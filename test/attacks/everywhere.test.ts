import { afterAll, beforeAll } from 'vitest';
import { type ApiServer, startApiServer } from '../../deploy/local/api-server/api-server.ts';
import { clientOf } from '../../deploy/local/client.ts';
import { realClock } from '../../deploy/local/clock.ts';
import { applyManifests, readManifests } from '../../deploy/manifests.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { declareAttacks, prepareAttacks } from './declare-attacks.ts';

// Those that a real cluster refuses, too (test/cluster/attacks.test.ts).

let server: ApiServer;
let kube: Kube;
beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
  kube = clientOf(server);
  await applyManifests(kube, await readManifests('crds', 'deploy/local/crds', 'deploy/local/eventing/crds'));
  await applyManifests(kube, await readManifests('deploy/base', 'deploy/local/base'));
  await prepareAttacks(kube);
});
afterAll(() => server.close());

declareAttacks(() => ({ kube, as: async (account) => clientOf(server, server.tokenFor(account)) }));
