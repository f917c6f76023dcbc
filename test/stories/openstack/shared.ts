import { expect } from 'vitest';
import { accountManifest } from '../../../deploy/local/openstack/account.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import { credentialsName } from '../../../shared/runtime/openstack/clouds.ts';
import { byName, setPolicy } from '../world.ts';
import { sourcesAt } from './run.ts';
import {
  createMachine,
  createNetwork,
  createVolume,
  isPhase,
  isReady,
  isWaitingFor,
  makeBootable,
  type OpenStackStory,
  runningMachine,
  untilGone,
  untilMachine,
  untilSo,
} from './world.ts';

/** What all namespaces have in common, the account of all and the policy: one after the other. */
export const stories = byName<OpenStackStory>({
  async 'without any credentials each says what it waits for, goes without trace if it is deleted, and heals when they come'(
    world,
  ) {
    const { kube, namespace } = world;
    await kube.delete(Secret, { namespace: operatorNamespace, name: credentialsName });
    try {
      await createNetwork(world, 'net');
      await createNetwork(world, 'unwanted');
      await createVolume(world, 'disk');
      await createMachine(world, 'vm', { virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] });
      const isWithout = isWaitingFor('CredentialsMissing');
      for (const { status } of [
        await untilSo(world, VirtualNetwork, 'net', isWithout),
        await untilSo(world, Volume, 'disk', isWithout),
        await untilSo(world, KupenStackMachine, 'vm', isWithout),
      ])
        expect(status).toMatchObject({
          phase: 'Pending',
          message: `expected a Secret ${credentialsName} with clouds.yaml in namespace ${namespace} or ${operatorNamespace}, found none`,
        });
      await kube.delete(VirtualNetwork, { namespace, name: 'unwanted' });
      await untilGone(world, VirtualNetwork, 'unwanted');
    } finally {
      await kube.create(Secret, accountManifest(world.login));
    }
    await makeBootable(world, 'disk');
    await untilMachine(world, 'vm', isReady);
  },
  async 'credentials that go while a machine runs: it is Unknown, not given up, and the same one when they are back'(
    world,
  ) {
    const { kube } = world;
    const before = await runningMachine(world);
    await kube.delete(Secret, { namespace: operatorNamespace, name: credentialsName });
    try {
      const { status } = await untilMachine(world, 'vm', isWaitingFor('CredentialsMissing'));
      expect(status).toMatchObject({ phase: 'Unknown', id: before.status?.id });
    } finally {
      await kube.create(Secret, accountManifest(world.login));
    }
    const after = await untilMachine(world, 'vm', isReady);
    expect(after.status).toMatchObject({ phase: 'Running', id: before.status?.id, restartCount: 0 });
  },
  async 'an address that the policy does not allow is not asked, nor any while the policy cannot be read'(world) {
    const { origin } = new URL(world.login.authUrl);
    const isRefused = isWaitingFor('EndpointNotAllowed');
    const before = await world.kube.get(ConfigMap, policyRef);
    await setPolicy(world, { openstackEndpoints: 'https://*.cloud.example/**' });
    try {
      await createNetwork(world, 'net');
      const { status } = await untilSo(world, VirtualNetwork, 'net', isRefused);
      expect(status).toMatchObject({
        phase: 'Pending',
        message: expect.stringContaining(`add the line "${origin}/**"`),
      });
      await setPolicy(world, { openstackEndpoints: ',' });
      await createNetwork(world, 'second');
      await untilSo(world, VirtualNetwork, 'second', isRefused);
      await setPolicy(world, { openstackEndpoints: `${origin}/**` });
      // The addresses that Keystone names are asked about in their turn: the simulated services have one in common.
      const isBeyondKeystone = (network: VirtualNetwork) =>
        isRefused(network) && !network.status?.message?.includes(`line for ${origin} `);
      await untilSo(
        world,
        VirtualNetwork,
        'net',
        (network) => isPhase('Available')(network) || isBeyondKeystone(network),
      );
    } finally {
      await setPolicy(world, { openstackEndpoints: before?.data?.openstackEndpoints });
    }
    await untilSo(world, VirtualNetwork, 'net', isPhase('Available'));
    await untilSo(world, VirtualNetwork, 'second', isPhase('Available'));
  },
  async 'an image that the policy does not allow is not downloaded, and its address is reported without its query'(
    world,
  ) {
    const image = world.imageUrl('disk.raw');
    await setPolicy(world, { allowedSources: 'https://images.example/**' });
    try {
      await createVolume(world, 'disk', { source: { image: `${image}?signature=of-somebody` } });
      const { status } = await untilSo(world, Volume, 'disk', isWaitingFor('SourceNotAllowed'));
      expect(status).toMatchObject({
        phase: 'Failed',
        message: expect.stringContaining(`expected a line for ${image} in the policy's allowedSources, found none`),
      });
      await setPolicy(world, { allowedSources: '*' });
      await untilSo(world, Volume, 'disk', isWaitingFor('InvalidPolicy'));
    } finally {
      await setPolicy(world, { allowedSources: sourcesAt(image) });
    }
    await untilSo(world, Volume, 'disk', isPhase('Available'));
  },
});
