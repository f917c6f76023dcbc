import { publicationKeysRef } from '../../../shared/images/signature.ts';
import { type KubernetesObject, keyOf } from '../../../shared/kinds/resource.ts';
import { operatorNamespace, partOf } from '../../../shared/operator.ts';
import { policyName } from '../../../shared/policy.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { siteKeyRef } from '../../../shared/workspaces/site-key.ts';
import { createPublicationKey, createSiteKey } from '../../keys.ts';
import { auditNow } from './audit.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { fieldManager, inventoryOf, obsoleteOf } from './inventory.ts';
import {
  type AnyObject,
  ConfigMap,
  Definition,
  Deployment,
  formatObject,
  Namespace,
  resourceOf,
  type Stage,
  stageOf,
  stages,
} from './kinds.ts';
import { untilUp } from './readiness.ts';
import { removeAll, removeFunctions } from './remove.ts';
import { functionOf, removeTriggers, untilForgotten } from './triggers.ts';
import { getOf } from './wait.ts';

/**
 * Applies the manifests stage by stage, each ready before the next, and deletes what the installer applied before and the manifests no
 * longer have (Triggers one by one); then the functions look at everything. What delivers to a function that stays is deleted only after what
 * takes its place delivers: a rollout may take minutes. Install and upgrade are the same, and both continue an interrupted run.
 */
export async function install(cluster: Cluster, wanted: readonly KubernetesObject[]): Promise<void> {
  const obsolete = obsoleteOf(await inventoryOf(cluster), wanted);
  const leaving = new Set(obsolete.functions.map(({ metadata }) => metadata.name));
  const isOfLeavingFunction = (trigger: AnyObject) => leaving.has(functionOf(trigger));
  for (const stage of stages) {
    // Before anything is applied that might have the same name; a function's permissions stay until it is deleted.
    if (stage === 'functions') {
      await removeTriggers(cluster, obsolete.triggers.filter(isOfLeavingFunction));
      await removeFunctions(cluster, obsolete.functions);
      if (await createPublicationKey(cluster.kube))
        cluster.say(`Secret ${keyOf(publicationKeysRef)} made, with a first key for pipelines to sign with`);
      if (await createSiteKey(cluster.kube))
        cluster.say(`Secret ${keyOf(siteKeyRef)} made, from which the keys of workspaces are derived`);
    }
    await applyStage(
      cluster,
      stage,
      wanted.filter((object) => stageOf(object) === stage),
    );
  }
  await removeAll(cluster, obsolete.sources);
  await removeTriggers(
    cluster,
    obsolete.triggers.filter((trigger) => !isOfLeavingFunction(trigger)),
  );
  await removeAll(cluster, [...obsolete.permissions, ...obsolete.broker]);
  await auditNow(cluster, wanted);
}

async function applyStage(cluster: Cluster, stage: Stage, objects: readonly KubernetesObject[]): Promise<void> {
  for (const object of [...objects].sort(namespacesFirst)) {
    if (isMadeOnce(object)) await createOnce(cluster, object);
    else await apply(cluster, object);
    if (stage === 'triggers') await untilSubscribed(cluster, object);
  }
  await Promise.all(objects.map((object) => untilUp(cluster, object)));
  if (objects.length > 0)
    cluster.say(`${stage}: ${objects.length} ${objects.length === 1 ? 'object is' : 'objects are'} up`);
}

/** Knative replaces the Subscription of a changed Trigger: several at once would leave dead subscribers, as with deletions. */
async function untilSubscribed(cluster: Cluster, trigger: KubernetesObject): Promise<void> {
  await untilUp(cluster, trigger);
  await untilForgotten(cluster, trigger);
}

const namespacesFirst = (a: KubernetesObject, b: KubernetesObject) =>
  Number(b.kind === Namespace.kind) - Number(a.kind === Namespace.kind);

/** An existing namespace or policy belongs to the admin. */
const isMadeOnce = ({ kind, metadata }: KubernetesObject) =>
  kind === Namespace.kind || (kind === ConfigMap.kind && metadata.name === policyName);

async function createOnce({ kube, say }: Cluster, object: KubernetesObject): Promise<void> {
  const resource = resourceOf(object);
  const found = await kube.get(resource, object.metadata);
  if (found) {
    if (!found.metadata.deletionTimestamp) return say(`${formatObject(object)} exists and is left as it is`);
    throw new InstallError(
      `expected ${formatObject(object)} to stay, found it being deleted; wait until it is deleted`,
    );
  }
  const labels = { ...object.metadata.labels, ...partOf };
  await kube.create(resource, { ...object, metadata: { ...object.metadata, labels } }, fieldManager);
  say(`${formatObject(object)} made`);
}

export async function apply({ kube, say }: Cluster, object: KubernetesObject): Promise<void> {
  const before = await getOf(kube, resourceOf(object), object.metadata);
  if (object.kind === Definition.kind) assertStoredVersionsStay(before, object);
  try {
    if (before && isRecreated(object) && !isRecreated(before))
      await kube.patch(Deployment, object.metadata, { spec: { strategy: recreated } }, { fieldManager });
    const after = await kube.apply(resourceOf(object), object, { fieldManager, force: true });
    if (!before) say(`${formatObject(object)} made`);
    else if (before.metadata.resourceVersion !== after.metadata.resourceVersion) say(`${formatObject(object)} changed`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const where = object.metadata.namespace === operatorNamespace ? '' : ' (is the account you use an admin?)';
    throw new InstallError(
      `expected ${formatObject(object)} to be accepted, found ${error.status} ${error.message}${error.status === 403 ? where : ''}`,
    );
  }
}

const isRecreated = ({ kind, spec }: AnyObject) =>
  kind === Deployment.kind && (spec as { strategy?: { type?: string } } | undefined)?.strategy?.type === recreated.type;

/** An apply cannot take away the `rollingUpdate` that the API server set itself, and is refused with it (kubernetes/kubernetes#24198). */
const recreated = { type: 'Recreate', rollingUpdate: null };

/** Objects that are stored in a version cannot be read after the CRD drops that version. */
export function assertStoredVersionsStay(before: AnyObject | undefined, next: AnyObject): void {
  const { storedVersions = [] } = (before?.status ?? {}) as { storedVersions?: string[] };
  const { versions = [] } = (next.spec ?? {}) as { versions?: { name: string }[] };
  const lost = storedVersions.filter((version) => !versions.some(({ name }) => name === version));
  if (lost.length === 0) return;
  throw new InstallError(
    `expected ${formatObject(next)} to keep version ${lost.join(', ')}, in which objects are stored, found only ${versions.map(({ name }) => name).join(', ')}. Install a release that has both, write every object once, then take the old version out of status.storedVersions.`,
  );
}
