import { expect, test } from 'vitest';
import { openStackFolders, readManifests } from '../../deploy/manifests.ts';
import { grantedRules } from '../proofs/permissions/granted.ts';
import { stories as credentials } from '../stories/openstack/credentials.ts';
import { stories as faults } from '../stories/openstack/faults.ts';
import { stories as machinesLife } from '../stories/openstack/machines-life.ts';
import { readAudit, unusedOf } from './audit.ts';
import { declareOpenStack } from './declare-openstack.ts';

declareOpenStack([...machinesLife, ...[...faults, ...credentials].filter(({ smoke }) => smoke)]);

test.skipIf(!process.env.OT_AUDIT_LOG)('their ServiceAccounts used every rule they are granted', async () => {
  const granted = grantedRules(await readManifests(...openStackFolders));
  expect(unusedOf(granted, await readAudit(process.env.OT_AUDIT_LOG ?? ''))).toEqual([]);
});
