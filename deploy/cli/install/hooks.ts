import { KubeConfig } from '@kubernetes/client-node';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { Cluster } from './cluster.ts';
import { clusterOf } from './connect.ts';
import { inventoryOf } from './inventory.ts';
import { Broker, Definition, kindsOf, Trigger, workloads } from './kinds.ts';
import { removeLease } from './namespace.ts';
import { untilUp } from './readiness.ts';
import { untilForgotten } from './triggers.ts';
import { describeTrouble } from './trouble.ts';
import { assertNothingUnfinished, stopFunctions } from './uninstall.ts';
import { listOf } from './wait.ts';

/**
 * What Helm has done before it deletes a release: what sends to functions ends, then the functions, and our finalizers are removed, so
 * that images and machines which stay can be deleted without functions; and the Lease, which no manifest has, is deleted. Throws if
 * workspaces or objects on OpenStack exist.
 */
export async function beforeDelete(cluster: Cluster): Promise<void> {
  const definitions = (await listOf(cluster.kube, Definition)).filter(({ metadata }) => isOurs(metadata.name));
  await assertNothingUnfinished(cluster, definitions);
  await stopFunctions(cluster, definitions, await inventoryOf(cluster, working));
  await removeLease(cluster);
}

/** What works, and has to end before Helm deletes the rest in any order. */
const working = { sources: kindsOf.sources, triggers: kindsOf.triggers, functions: workloads };

const isOurs = (name: string) => name.endsWith('.pelotech.ot') || name.endsWith('.kupenstack.io');

/** What Helm has done after an upgrade, which changes all Triggers at once: subscribers that their channels keep for nothing are removed. */
export async function afterUpgrade(cluster: Cluster): Promise<void> {
  for (const trigger of await listOf(cluster.kube, Trigger, { namespace: operatorNamespace }))
    await untilForgotten(cluster, trigger);
}

/** What `helm test` runs: throws if a Broker, function, Trigger or source does not become Ready. */
export async function assertReady(cluster: Cluster): Promise<void> {
  const { sources, triggers, functions, broker } = await inventoryOf(cluster, { ...working, broker: [Broker] });
  for (const object of [...broker, ...functions, ...triggers, ...sources]) await untilUp(cluster, object);
  cluster.say(
    `${broker.length} Brokers, ${functions.length} functions, ${triggers.length} Triggers and ${sources.length} sources are ready`,
  );
}

/** Runs one of them in a Pod of the cluster; what went wrong is its last line. */
export async function runHook(hook: (cluster: Cluster) => Promise<void>): Promise<void> {
  const config = new KubeConfig();
  config.loadFromDefault();
  try {
    await hook(clusterOf(config, { say: (line) => console.log(line), timeoutMs: 120_000 }));
  } catch (error) {
    console.error(describeTrouble(error) ?? (error instanceof Error ? error.message : String(error)));
    process.exitCode = 1;
  }
}
