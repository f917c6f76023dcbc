import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Misconfiguration, misconfigurations, profiled } from '../../deploy/cli/doctor/misconfigurations.ts';
import { clusterOf } from '../../deploy/cli/install/connect.ts';
import { StorageProfile } from '../../deploy/cli/install/kinds.ts';
import { createPublicationKey } from '../../deploy/keys.ts';
import { kubeClient } from '../../shared/runtime/kube.ts';
import {
  declareMisconfigurations,
  type Installed,
  look,
  untilNoFindings,
} from '../support/tools/declare-misconfigurations.ts';
import { runCommandLine, runInstaller } from './commands.ts';
import { applyText, imageUnderTest, install, manifestsIn, textOf } from './installation.ts';
import { kubectl, kubectlOrFail } from './kubectl.ts';

const operator = ['--namespace', 'sync-operator'];

/** What an installation of ours finds there: the Secret that the policy names, and the class as the simulated CDI reports it. */
const around = `
apiVersion: v1
kind: Secret
metadata: { name: s3-reader, namespace: vmdi-farm }
---
apiVersion: cdi.kubevirt.io/v1beta1
kind: StorageProfile
metadata: { name: gp3 }
spec: {}
`;

/** The same kubeconfig, its user taken for another. */
function actingAs({ clusters, contexts, currentContext, users }: KubeConfig, impersonateUser: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters,
    contexts,
    currentContext,
    users: users.map((user) => ({ ...user, impersonateUser })),
  });
  return config;
}

/** A test for each of the ways, and one for those together that an upgrade mends. */
export function declareDoctor(ways: readonly Misconfiguration[]): void {
  describe('the doctor on a real cluster', () => {
    let installed: Installed;
    beforeAll(async () => {
      await install('serving');
      await applyText(around);
      const config = new KubeConfig();
      config.loadFromDefault();
      const cluster = clusterOf(config, { say: () => undefined, timeoutMs: 0 });
      await cluster.kube.patch(StorageProfile, { name: 'gp3' }, { status: profiled }, { subresource: 'status' });
      await createPublicationKey(cluster.kube);
      installed = {
        cluster,
        knative: kubeClient(actingAs(config, 'system:serviceaccount:knative-eventing:eventing-controller')),
        manifests: await manifestsIn('serving'),
        putBack: async (objects) => objects.length > 0 && applyText(textOf(objects)),
        // A Trigger that once did not find its subscriber may never look again (Knative 1.20), nor a source that was refused.
        nudge: () =>
          kubectlOrFail(
            ...['annotate', 'triggers,apiserversources', ...operator, '--all', '--overwrite'],
            `pelotech.ot/looked-at=${Date.now()}`,
          ),
        withinMs: 120_000,
      };
    });
    afterAll(async () => {
      await kubectl('delete', 'storageprofile/gp3', '--ignore-not-found');
      await kubectl('delete', 'secret/s3-reader', '--namespace=vmdi-farm', '--ignore-not-found');
      // Knative keeps the Deployment of an image that cannot be pulled for ten minutes, and other tests would wait for it.
      const notRouted = ['--selector', 'serving.knative.dev/routingState!=active'];
      await kubectlOrFail('delete', 'revisions.serving.knative.dev', ...operator, ...notRouted);
    });

    declareMisconfigurations('real', () => installed, ways);

    test('upgrade, the remedy of most findings, corrects them all at once', async () => {
      const all = misconfigurations.filter(({ remedy, not }) => remedy.test('ot-functions upgrade') && !not?.real);
      for (const one of all) await one.break(installed.cluster.kube, installed.knative);
      const sick = await runCommandLine('doctor');
      expect(sick).toMatchObject({ code: 1, err: '' });
      const lines = sick.out.split('\n');
      for (const { finding } of all) expect(lines).toContainEqual(expect.stringMatching(finding));
      // The remedy for an object that is being deleted says this: an object that is applied before its deletion ends is deleted, too.
      await expect
        .poll(() => look(installed), { timeout: installed.withinMs, interval: 1_000 })
        .not.toContainEqual(expect.objectContaining({ found: expect.stringContaining('being deleted') }));
      const overlay = ['--overlay', fileURLToPath(new URL('overlays/serving', import.meta.url))];
      expect(await runInstaller('upgrade', ...overlay, '--image', imageUnderTest())).toMatchObject({
        code: 0,
        err: '',
      });
      await untilNoFindings(installed);
      expect(await runCommandLine('doctor')).toMatchObject({
        code: 0,
        out: expect.stringMatching(/Nothing found\.\n$/),
        err: '',
      });
    });
  });
}
