import { expect, test } from 'vitest';
import { openStackFolders, readManifests } from '../../deploy/manifests.ts';
import { grantedRules } from '../proofs/permissions/granted.ts';
import { named } from '../proofs/permissions/named.ts';
import { stories as credentials } from '../stories/openstack/credentials.ts';
import { stories as faults } from '../stories/openstack/faults.ts';
import { stories as machinesLife } from '../stories/openstack/machines-life.ts';
import { readAudit, unusedOf } from './audit.ts';
import { declareOpenStack } from './declare-openstack.ts';

declareOpenStack([
  ...machinesLife,
  named(faults, /^a server that a user deletes/),
  named(credentials, /^a namespace's own account/),
  named(credentials, /^a namespace that is deleted with its own account/),
  named(credentials, /^a namespace that is deleted takes/),
]);

test.skipIf(!process.env.OT_AUDIT_LOG)('their ServiceAccounts used every rule they are granted', async () => {
  const granted = grantedRules(await readManifests(...openStackFolders));
  expect(unusedOf(granted, await readAudit(process.env.OT_AUDIT_LOG ?? ''))).toEqual([]);
});
