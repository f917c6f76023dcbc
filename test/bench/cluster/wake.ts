import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { defineResource } from '../../../shared/kinds/resource.ts';
import { applyText, imageUnderTest } from '../../cluster/installation.ts';
import { kubectlOrFail } from '../../cluster/kubectl.ts';
import { adminClient } from '../../cluster/world.ts';
import { until } from '../../stories/world.ts';

/** How long the first answer takes of a function that sleeps. */
export interface Wake {
  what: string;
  firstAnswerMs: number[];
}

const namespace = 'bench-wake';
/** As the first process of a container it would not hear SIGTERM by itself. */
const emptyServer = `process.once('SIGTERM', () => process.exit());
  require('node:http').createServer((_, response) => response.end()).listen(8080)`;
const asleepWithinMs = 180_000;

const Service = defineResource(
  { apiVersion: 'serving.knative.dev/v1', kind: 'Service', plural: 'services' },
  { status: z.object({ url: z.string().optional() }).optional() },
);

/**
 * Lets an empty Node server and a function, both of the image under test, fall asleep and wakes them alternately, this many
 * times. `gateway` is where Knative's ingress listens for names inside the cluster.
 */
export async function measureWakes(rounds: number, gateway: string, say: (line: string) => void): Promise<Wake[]> {
  const functionOf = await functionSpec('preload');
  await applyText(
    [namespaceObject, knativeService('empty', emptySpec), knativeService('function', functionOf)].join('\n---\n'),
  );
  await kubectlOrFail(
    'wait',
    'services.serving.knative.dev',
    '--all',
    '-n',
    namespace,
    '--for=condition=Ready',
    '--timeout=120s',
  );
  const wakes = ['empty', 'function'].map((what): Wake => ({ what, firstAnswerMs: [] }));
  for (let round = 1; round <= rounds; round++) {
    say(`waiting for both to fall asleep, ${round} of ${rounds}`);
    await untilAsleep();
    // Who is woken first warms the way for the other: they take turns at it.
    for (const { what, firstAnswerMs } of round % 2 ? wakes : wakes.toReversed())
      firstAnswerMs.push(await firstAnswer(what, gateway));
  }
  await kubectlOrFail('delete', 'namespace', namespace, '--wait=true');
  return wakes;
}

const namespaceObject = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });

const emptySpec = {
  containers: [
    {
      name: 'empty',
      image: imageUnderTest(),
      command: ['/nodejs/bin/node', '-e', emptyServer],
      ports: [{ containerPort: 8080 }],
    },
  ],
};

/** The function as it is installed, under an account that may do nothing: no event reaches it here. */
async function functionSpec(name: string) {
  const found = JSON.parse(
    await kubectlOrFail('get', 'services.serving.knative.dev', name, '-n', 'sync-operator', '-o', 'json'),
  );
  const { serviceAccountName: _, ...spec } = found.spec.template.spec;
  return spec;
}

const knativeService = (name: string, spec: object) =>
  JSON.stringify({
    apiVersion: Service.apiVersion,
    kind: Service.kind,
    metadata: { name, namespace, labels: { 'networking.knative.dev/visibility': 'cluster-local' } },
    spec: { template: { spec } },
  });

/** No Pod is left, not even a terminating one. */
async function untilAsleep(): Promise<void> {
  const kube = adminClient();
  for (const pod of await kube.list(Pod, { namespace })) {
    await until({ kube }, Pod, pod.metadata, (found) => found === undefined, asleepWithinMs);
  }
}

async function firstAnswer(name: string, gateway: string): Promise<number> {
  const { stdout } = await promisify(execFile)('curl', [
    ...['--silent', '--show-error', '--fail', '--output', '/dev/null', '--max-time', '60'],
    ...['--write-out', '%{time_starttransfer}', '--header', `Host: ${name}.${namespace}.svc.cluster.local`],
    `${gateway}/health/ready`,
  ]);
  return Number(stdout) * 1000;
}
