import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ApiServer, startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { kubeconfigFor } from '../../../deploy/local/api-server/kubeconfig.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { type Kube, kubeClient } from '../../../shared/runtime/kube.ts';
import { type FaultProxy, startFaultProxy, type WriteFault } from './fault-proxy.ts';

let server: ApiServer;
let proxy: FaultProxy;
let killed: string[];
let kube: Kube;
const ref = { namespace: 'default', name: 'one' };
const at = 'start-sync POST configmaps 1';

const configFor = (text: string) => {
  const config = new KubeConfig();
  config.loadFromString(text);
  return config;
};

beforeEach(async () => {
  killed = [];
  server = await startApiServer({ clock: realClock });
  proxy = await startFaultProxy({
    config: configFor(server.kubeconfig()),
    kill: async (name) => void killed.push(name),
  });
  kube = kubeClient(configFor(kubeconfigFor(proxy.urlFor('start-sync'))));
});
afterEach(async () => {
  await proxy.close();
  await server.close();
});

const create = () => kube.create(ConfigMap, { metadata: ref, data: { key: 'value' } });

describe('the proxy between functions and API server', () => {
  test('forwards requests and answers, and identifies writes by function, kind and count', async () => {
    await create();
    await kube.patch(ConfigMap, ref, { data: { key: 'other' } });
    await kube.patch(ConfigMap, ref, { data: { key: 'third' } });
    expect(await kube.get(ConfigMap, ref)).toMatchObject({ data: { key: 'third' } });
    expect(proxy.points()).toEqual([at, 'start-sync PATCH configmaps 1', 'start-sync PATCH configmaps 2']);
    proxy.begin();
    expect(proxy.points()).toEqual([]);
  });

  test.each<{ what: WriteFault; isWritten: boolean; isKilled: boolean }>([
    { what: 'crashBefore', isWritten: false, isKilled: true },
    { what: 'crashAfter', isWritten: true, isKilled: true },
    { what: 'answerLost', isWritten: true, isKilled: false },
  ])('$what: written $isWritten, killed $isKilled, and no answer', async ({ what, isWritten, isKilled }) => {
    proxy.begin({ at, what });
    await expect(create()).rejects.toThrow();
    expect(proxy.wasInjected()).toBe(true);
    expect(killed).toEqual(isKilled ? ['start-sync'] : []);
    expect((await kube.get(ConfigMap, ref)) !== undefined).toBe(isWritten);
  });

  test('a fault is injected once', async () => {
    proxy.begin({ at, what: 'crashBefore' });
    await expect(create()).rejects.toThrow();
    expect(await create()).toMatchObject({ data: { key: 'value' } });
  });
});
