import { afterAll, beforeAll } from 'vitest';
import type { ApiServer } from '../../deploy/local/api-server/api-server.ts';
import { clientOf } from '../../deploy/local/client.ts';
import { baseFolders, startInstalledServer } from '../../deploy/local/installed-server.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { declareAttacks, prepareAttacks } from './declare-attacks.ts';

// Those that a real cluster refuses, too (test/cluster/attacks.test.ts).

let server: ApiServer;
let kube: Kube;
beforeAll(async () => {
  server = await startInstalledServer([...baseFolders, 'deploy/local/eventing/crds']);
  kube = clientOf(server);
  await prepareAttacks(kube);
});
afterAll(() => server.close());

declareAttacks(() => ({ kube, as: async (account) => clientOf(server, server.tokenFor(account)) }));
