import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import { putImage } from '../stories/images.ts';
import { postWithFetch, takePublications } from '../stories/preload.ts';
import { until, untilPhase } from '../stories/world.ts';
import { installed } from './installed.ts';
import { adminClient, onRealCluster } from './world.ts';

const Deployment = defineResource(
  { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
  { spec: z.object({ replicas: z.number() }), status: z.object({ replicas: z.number().optional() }).optional() },
);
const PodAutoscaler = defineResource(
  { apiVersion: 'autoscaling.internal.knative.dev/v1alpha1', kind: 'PodAutoscaler', plural: 'podautoscalers' },
  { status: z.object({ actualScale: z.number().optional(), desiredScale: z.number().optional() }).optional() },
);

/** The window of the autoscaler and the grace period behind it, at Serving's defaults, and something on top. */
const asleepWithinMs = 180_000;

const broker = installed('serving', { timers: 'production' });

describe('a function of scale zero on a real cluster', () => {
  test('has no instance while nothing happens, wakes at an event, and loses none of those that come meanwhile', async () => {
    const kube = adminClient();
    const run = async () => {};
    await onRealCluster({ name: 'asleep', run }, { kube, broker: broker() });
    const deployment = await deploymentOf('preload');
    await until({ kube }, Deployment, deployment, (found) => found?.status?.replicas === undefined, asleepWithinMs);

    await onRealCluster(
      {
        name: 'woken',
        run: async (world) => {
          await takePublications(world);
          const names = Array.from({ length: 10 }, (_, index) => `woken-${index}`);
          for (const name of names) await putImage(world, name);
          const answers = names.map((name) => postWithFetch(world.broker, { id: name, data: { name } }));
          expect(new Set(await Promise.all(answers))).toEqual(new Set([202]));
          for (const name of names) await untilPhase(world, name, 'Succeeded', 60_000);
          expect(await kube.list(VMDiskImage, { namespace: world.namespace })).toHaveLength(names.length);
        },
      },
      { kube, broker: `${broker()}/sync-operator/default` },
    );
  }, 400_000);

  test('start-sync, follow-sync and count-refs stay awake, and no function runs twice', async () => {
    const kube = adminClient();
    for (const name of ['start-sync', 'follow-sync', 'count-refs']) {
      const { spec } = (await kube.get(Deployment, await deploymentOf(name))) ?? {};
      expect(spec?.replicas).toBeGreaterThanOrEqual(1);
    }
    const scaled = await kube.list(PodAutoscaler, { namespace: 'sync-operator' });
    expect(scaled.length).toBeGreaterThanOrEqual(2);
    const most = scaled.map(({ metadata }) => metadata.annotations?.['autoscaling.knative.dev/max-scale']);
    expect(new Set(most)).toEqual(new Set(['1']));
  });
});

/** The Deployment of the newest revision of a function. */
async function deploymentOf(name: string) {
  const found = await adminClient().list(Deployment, {
    namespace: 'sync-operator',
    labelSelector: `serving.knative.dev/service=${name}`,
  });
  const newest = found.sort((a, b) => b.metadata.name.localeCompare(a.metadata.name))[0];
  return { namespace: 'sync-operator', name: newest?.metadata.name ?? '' };
}
