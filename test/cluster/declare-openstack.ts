import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { giveAccount } from '../../deploy/local/openstack/account.ts';
import { openStackFolders, readManifests } from '../../deploy/manifests.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { grantedRules } from '../proofs/permissions/granted.ts';
import { quickPolicy, runStory, serveImages } from '../stories/openstack/run.ts';
import { type Services, simulated } from '../stories/openstack/services.ts';
import type { OpenStackStory } from '../stories/openstack/world.ts';
import { setPolicy } from '../stories/world.ts';
import { readAudit, refusedIn } from './audit.ts';
import { install, removeFunctions } from './installation.ts';
import { nodeAddress } from './kubectl.ts';
import { adminClient } from './world.ts';

/** The functions as pods, and an OpenStack on the node's own address: the simulated one, for the real ones listen on loopback only. */
export function declareOpenStack(stories: readonly OpenStackStory[]): void {
  describe('on a real cluster: machines on OpenStack', () => {
    let openStack: Services;
    let fromMs: number;
    let images: Awaited<ReturnType<typeof serveImages>>;
    const kube = adminClient();
    const account = { namespace: operatorNamespace, name: credentialsName };
    beforeAll(async () => {
      fromMs = Date.now();
      await install('serving-openstack');
      openStack = await simulated({ host: await nodeAddress() });
      images = await serveImages();
      await setPolicy({ kube }, quickPolicy);
      await giveAccount(kube, openStack.login);
    });
    afterAll(async () => {
      await kube.delete(Secret, account);
      await removeFunctions();
      await images?.close();
      await openStack?.close();
    });

    for (const story of stories) test(story.name, () => runStory(story, { cluster: { kube }, openStack, images }));

    test.skipIf(!process.env.OT_AUDIT_LOG)('nothing was refused to their ServiceAccounts', async () => {
      const accounts = new Set(grantedRules(await readManifests(...openStackFolders)).map(({ account }) => account));
      const audit = await readAudit(process.env.OT_AUDIT_LOG ?? '');
      // What attackers with these accounts were refused before belongs to their own tests.
      const isOfThese = ({ account, atMs }: { account: string; atMs: number }) =>
        accounts.has(account) && atMs >= fromMs;
      expect(refusedIn(audit).filter(isOfThese)).toEqual([]);
    });
  });
}
