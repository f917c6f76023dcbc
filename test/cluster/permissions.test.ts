import { expect, test } from 'vitest';
import { generatedFolders, readManifests } from '../../deploy/local/manifests.ts';
import { grantedRules, inWords } from '../permissions/granted.ts';
import { type Audit, countsOf, laxlyWritten, readAudit, refusedIn, unusedOf, writesByAccount } from './audit.ts';

/** The API server's audit log of the stories, which have run before. */
const logFile = process.env.OT_AUDIT_LOG;
if (!logFile) console.warn('skipped: what the audit log says of permissions needs OT_AUDIT_LOG, which is not set');

const isLogged = test.skipIf(!logFile);
const audit = (): Promise<Audit> => readAudit(logFile ?? '');

/** Rules that nothing on this cluster asks for; each is proven on the local one. */
const notAskedHere = [
  // Nobody scrapes here: deploy/local/telemetry.slow.test.ts.
  'start-sync list virtualmachines.pelotech.ot',
  'start-sync list workspaces.pelotech.ot',
  // CDI's webhook asks for it, and the simulated CDI has none here: test/local/permissions.slow.test.ts.
  'provision-vm create datavolumes.cdi.kubevirt.io/source',
  // The API server asks itself, as a RoleBinding is made.
  'compose-workspace bind clusterroles.rbac.authorization.k8s.io',
];
const granted = grantedRules(await readManifests(...generatedFolders)).filter(
  (rule) => !notAskedHere.includes(inWords(rule)),
);

isLogged('every rule that a ServiceAccount of the operator is granted was used by the stories', async () => {
  const found = await audit();
  for (const [what, count] of countsOf(found)) console.log(`${String(count).padStart(7)} ${what}`);
  console.log('writes:', Object.fromEntries(writesByAccount(found.requests)));
  expect(unusedOf(granted, found)).toEqual([]);
});

isLogged('no request of a ServiceAccount of the operator was refused', async () => {
  const refused = refusedIn(await audit());
  expect(refused.map(({ account, verb, resource, refusal }) => `${account} ${verb} ${resource}: ${refusal}`)).toEqual(
    [],
  );
});

isLogged('every object that the functions wrote was held against the real definitions of its kind', async () => {
  expect(laxlyWritten(await audit())).toEqual([]);
});
