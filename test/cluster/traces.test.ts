import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postWithFetch } from '../stories/preload.ts';
import { storyWith } from '../stories/traces.ts';
import { type Collector, startCollector } from '../support/tools/otlp-collector.ts';
import { applyText, install, removeFunctions, textOf } from './installation.ts';
import { kubectlOrFail, nodeAddress, portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

/** What is sent at last by a Pod that has nothing to do any more. */
const sentWithinMs = 60_000;

const besideTheCluster = { name: 'collector-beside-the-cluster', namespace: 'sync-operator' };

/** The installed policies let functions reach a collector only in the namespace `monitoring`. */
const mayReach = (url: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: besideTheCluster,
  spec: {
    podSelector: {},
    policyTypes: ['Egress'],
    egress: [{ to: [{ ipBlock: { cidr: `${new URL(url).hostname}/32` } }] }],
  },
});

describe('the functions as Pods, and a collector beside them', () => {
  let collector: Collector;
  let broker: Awaited<ReturnType<typeof portForward>>;
  beforeAll(async () => {
    collector = await startCollector(await nodeAddress());
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    await install('serving', { env });
    await applyText(textOf([mayReach(collector.url)]));
    broker = await portForward('knative-eventing', 'broker-ingress', 80);
  });
  afterAll(async () => {
    broker?.close();
    await kubectlOrFail('delete', 'networkpolicy', besideTheCluster.name, '--namespace', besideTheCluster.namespace);
    await removeFunctions();
    await collector?.close();
  });

  test('each sends its part of the one trace from the event, or the apply, to Ready', async () => {
    const story = storyWith(collector, postWithFetch, sentWithinMs);
    await onRealCluster(story, { kube: adminClient(), broker: `${broker.url}/sync-operator/default` });
    // Each is a process of its own here, and says its own name.
    for (const { service, attributes } of collector.spans) expect(attributes['ot.function'] ?? service).toBe(service);
  });
});
