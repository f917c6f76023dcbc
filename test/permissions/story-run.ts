import type { LocalCluster, LocalOptions } from '../../deploy/local/start.ts';
import { defineResource, type KubernetesObject } from '../../shared/resources/resource.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { onLocalCluster } from '../journeys/local-world.ts';
import type { Story } from '../journeys/world.ts';
import { policyRulesOf, type Rule, without } from './granted.ts';

/** What one run of a story came to. */
export interface StoryRun {
  /** Why it did not get to its end; absent where it did. */
  failure: string | undefined;
  tookMs: number;
  /** What ServiceAccounts of the operator asked for and were not refused, in words (`start-sync list pods`). */
  used: ReadonlySet<string>;
  /** What they were refused for lack of a rule (403), with how often. */
  refused: ReadonlyMap<string, number>;
}

/** Runs a story on a local cluster; there may be a rule that it lacks, and a time after which the story has failed. */
export async function runStory(
  story: Story,
  { lacking, withinMs }: { lacking?: Rule; withinMs: number },
): Promise<StoryRun> {
  let up: LocalCluster | undefined;
  let startedMs = 0;
  const over = new AbortController();
  const late = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(new Error(`not there within ${withinMs} ms`)));
  });
  late.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const run: Story['run'] = (world) => {
    startedMs = Date.now();
    timer = setTimeout(() => over.abort(), withinMs);
    return Promise.race([story.run(world), late]);
  };
  const before = async (cluster: LocalCluster) => {
    up = cluster;
    if (lacking) await take(cluster, lacking);
  };
  const failure = await onLocalCluster({ ...story, run }, undefined, before).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  clearTimeout(timer);
  return { failure, tookMs: Date.now() - startedMs, ...(up ? asked(up) : { used: new Set(), refused: new Map() }) };
}

const never = '0 0 1 1 *';

/** The same story with no timer in it: only events wake a function. */
export const withoutTimers = (story: Story): Story => {
  const schedules: LocalOptions['schedules'] = { sweep: never, audit: never };
  return { ...story, name: `${story.name}, with no timer`, local: { ...story.local, schedules } };
};

/** What was asked by accounts of the operator, and what of it was refused. */
function asked({ server }: LocalCluster): Pick<StoryRun, 'used' | 'refused'> {
  const used = new Set<string>();
  const refused = new Map<string, number>();
  const prefix = `system:serviceaccount:${operatorNamespace}:`;
  for (const [key, count] of server.answers()) {
    if (!key.startsWith(prefix)) continue;
    const [account = '', verb = '', what = '', status] = key.slice(prefix.length).split(' ');
    if (status === '403') refused.set(`${account} ${verb} ${what}`, count);
    else used.add(`${account} ${verb} ${what}`);
    // An apply that makes its object needs both.
    if (verb === 'patch' && status === '201') used.add(`${account} create ${what}`);
  }
  return { used, refused };
}

const rbac = 'rbac.authorization.k8s.io/v1';
const Role = defineResource({ apiVersion: rbac, kind: 'Role', plural: 'roles' }, {});
const ClusterRole = defineResource(
  { apiVersion: rbac, kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  {},
);

/** Takes the rule from the cluster, and starts the sources anew: one that watches already is asked nothing any more. */
async function take({ kube, eventing }: LocalCluster, rule: Rule): Promise<void> {
  const { account, namespace } = rule;
  const resource = namespace ? Role : ClusterRole;
  const ref = namespace ? { namespace, name: account } : { name: `${operatorNamespace}-${account}` };
  const role = await kube.get<KubernetesObject>(resource, ref);
  if (!role) throw new Error(`expected a ${resource.kind} ${ref.name}, found none`);
  await kube.patch(resource, ref, { rules: without(policyRulesOf(role), rule) });
  if (!account.startsWith('source-')) return;
  eventing.stopSources();
  await eventing.startSources();
}
