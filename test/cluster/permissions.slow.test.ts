import { expect, test } from 'vitest';
import { generatedFolders, readManifests } from '../../deploy/manifests.ts';
import { grantedRules, inWords } from '../proofs/permissions/granted.ts';
import { readAudit, unusedOf } from './audit.ts';

/** The API server's audit log of all stories, which have run before. */
const logFile = process.env.OT_AUDIT_LOG;
if (!logFile) console.warn('skipped: what the audit log says of permissions needs OT_AUDIT_LOG, which is not set');

/** Rules that nothing on this cluster asks for; each is proven on the local one. */
const notAskedHere = [
  // No Prometheus scrapes here: deploy/local/telemetry.slow.test.ts.
  'start-sync list virtualmachines.pelotech.ot',
  'start-sync list workspaces.pelotech.ot',
  // CDI's webhook asks for it, and the simulated CDI has none here: test/stories/local/permissions.long.test.ts.
  'provision-vm create datavolumes.cdi.kubevirt.io/source',
  // Many machines in one reconcile, as in machine-scale.slow.test.ts: test/stories/local/permissions.long.test.ts.
  'provision-vm list datavolumes.cdi.kubevirt.io',
  'provision-vm list virtualmachines.kubevirt.io',
  'provision-vm list virtualmachineinstances.kubevirt.io',
  // The API server asks itself, as a RoleBinding is made.
  'compose-workspace bind clusterroles.rbac.authorization.k8s.io',
];
const granted = grantedRules(await readManifests(...generatedFolders)).filter(
  (rule) => !notAskedHere.includes(inWords(rule)),
);

test.skipIf(!logFile)(
  'every rule that a ServiceAccount of the operator is granted was used by the stories',
  async () => {
    expect(unusedOf(granted, await readAudit(logFile ?? ''))).toEqual([]);
  },
);
