import { ApiServerSource } from '../../../deploy/local/eventing/resources.ts';
import type { LocalCluster, LocalOptions } from '../../../deploy/local/start.ts';
import { ClusterRole } from '../../../shared/kinds/rbac/cluster-role.ts';
import { defineResource, type KubernetesObject } from '../../../shared/kinds/resource.ts';
import { inImagesRole, inWorkspaceRole, operatorNamespace } from '../../../shared/operator.ts';
import type { Groups } from '../../stories/all.ts';
import { onLocalCluster } from '../../stories/local-world.ts';
import type { Story } from '../../stories/world.ts';
import { askedFor, noteUnasked, type Refusals, refusals } from './answers.ts';
import { policyRulesOf, type Rule, without } from './granted.ts';

export interface StoryRun extends Refusals {
  /** Why it did not get to its end; absent where it did. */
  failure: string | undefined;
  tookMs: number;
  /** What ServiceAccounts of the operator asked for and were not refused, in words (`start-sync list pods`). */
  used: ReadonlySet<string>;
  /** The ServiceAccounts of sources that do not run at its end: Knative starts none that may not do all it has to. */
  stopped: readonly string[];
}

/** Runs a story on a local cluster; there may be a rule that it lacks, and a time after which the story has failed. */
export async function runStory(
  story: Story,
  { lacking, withinMs }: { lacking?: Rule; withinMs: number },
): Promise<StoryRun> {
  const seen = { tookMs: 0, stopped: [] as string[], refused: new Set<string>(), declined: new Set<string>() };
  const noted = new Set<string>();
  let up: LocalCluster | undefined;
  const run: Story['run'] = async (world) => {
    const startedMs = Date.now();
    try {
      await orLate(story.run(world), withinMs);
    } finally {
      seen.tookMs = Date.now() - startedMs;
      if (up) Object.assign(seen, await refusals(up), { stopped: await stoppedSources(up) });
    }
  };
  const before = async (cluster: LocalCluster) => {
    up = cluster;
    noteUnasked(cluster, noted);
    if (lacking) await take(cluster, lacking);
  };
  const failure = await onLocalCluster({ ...story, run }, undefined, before).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  // An open watch is counted when the cluster ends.
  return { failure, ...seen, used: new Set([...noted, ...(up ? askedFor(up) : [])]) };
}

async function orLate(story: Promise<void>, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not there within ${withinMs} ms`)), withinMs);
  });
  await Promise.race([story, late]).finally(() => clearTimeout(timer));
}

const never = '0 0 1 1 *';

/** The same story with no timer in it: only events wake a function. */
export const withoutTimers = (story: Story): Story => {
  const schedules: LocalOptions['schedules'] = { sweep: never, audit: never };
  return { ...story, name: `${story.name}, with no timer`, local: { ...story.local, schedules } };
};

/** The stories of these groups that prove permissions, with no timer in those that are about none. */
export const provingPermissions = (groups: Groups): Story[] =>
  Object.values(groups)
    .flat()
    .filter(({ provesPermissions }) => provesPermissions)
    .map((story) => (story.provesPermissions?.byTimers ? story : withoutTimers(story)));

async function stoppedSources({ kube }: LocalCluster): Promise<string[]> {
  const sources = await kube.list(ApiServerSource, { namespace: operatorNamespace });
  const isReady = ({ status }: ApiServerSource) =>
    (status?.conditions as { type: string; status: string }[] | undefined)?.some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    );
  return sources.filter((source) => !isReady(source)).map(({ spec }) => spec.serviceAccountName);
}

const rbac = 'rbac.authorization.k8s.io/v1';
const Role = defineResource({ apiVersion: rbac, kind: 'Role', plural: 'roles' }, {});

/** Takes the rule from the cluster, and restarts the sources: a running watch is not authorized again. */
async function take({ kube, eventing }: LocalCluster, rule: Rule): Promise<void> {
  const { account, namespace, inWorkspaces, inImages } = rule;
  const resource = namespace ? Role : ClusterRole;
  const unbound = inWorkspaces ? inWorkspaceRole(account) : inImages ? inImagesRole(account) : undefined;
  const everywhere = unbound ?? `${operatorNamespace}-${account}`;
  const ref = namespace ? { namespace, name: account } : { name: everywhere };
  const role = await kube.get<KubernetesObject>(resource, ref);
  if (!role) throw new Error(`expected a ${resource.kind} ${ref.name}, found none`);
  await kube.patch(resource, ref, { rules: without(policyRulesOf(role), rule) });
  if (!account.startsWith('source-')) return;
  eventing.stopSources();
  await eventing.startSources();
}
