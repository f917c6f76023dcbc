import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { startCdi } from '../../deploy/local/cdi/start-cdi.ts';
import { realClock } from '../../deploy/local/clock.ts';
import { importImage } from '../../deploy/local/importer/import-image.ts';
import { Subnet, Vpc } from '../../deploy/local/kube-ovn/kinds.ts';
import { startKubeOvn } from '../../deploy/local/kube-ovn/start-kube-ovn.ts';
import { startKubevirt } from '../../deploy/local/kubevirt/start-kubevirt.ts';
import { type ObjectStore, startObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { startSnapshotter } from '../../deploy/local/snapshots/start-snapshotter.ts';
import { readManifests } from '../../deploy/manifests.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName, policyRef } from '../../shared/policy.ts';
import { type Kube, kubeClient } from '../../shared/runtime/kube.ts';
import { expectInvariants } from '../stories/expect-invariants.ts';
import { type History, recordHistory } from '../stories/history.ts';
import { type Story, setPolicy, untilGone, type World } from '../stories/world.ts';
import { trustPublicationKey } from '../support/builders/publications.ts';
import { andClearUp } from '../support/tools/clean-up.ts';
import { podDeletionsIn } from './audit.ts';
import { kubectl } from './kubectl.ts';
import { findVersitygw } from './versitygw.ts';
import { startVersitygwStore } from './versitygw-store.ts';

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };

/** The administrator's client for the cluster of KUBECONFIG, which writes no field that the real definitions don't know. */
export function adminClient(): Kube {
  const config = new KubeConfig();
  config.loadFromDefault();
  return kubeClient(config, 'Strict');
}

/** The one namespace of all stories: each new namespace makes Knative restart the adapters of all sources, which then miss events. */
const namespace = 'lab';

interface Real {
  kube: Kube;
  broker: string;
  /** How long what a story left may take to be gone. */
  goneWithinMs?: number;
}

/**
 * Runs a story on the cluster of KUBECONFIG, where the functions are installed, with the simulated CDI, snapshotter,
 * KubeVirt and kube-ovn as ordinary clients beside it; nothing is refused as their webhooks would. Policy and slots are one for the whole cluster: one story at a time.
 */
export async function onRealCluster(story: Story, { kube, broker, goneWithinMs }: Real): Promise<void> {
  const store = await startStore();
  await startAnew(kube, `${store.url}/** s3-reader`);
  const fromMs = Date.now();
  const history = await recordHistory(kube);
  const world: World = { kube, broker, store, namespace, history, kubectl };
  const foldersBelow = await mkdtemp(join(tmpdir(), 'ot-volumes-'));
  const simulators = simulated(story, kube, foldersBelow);
  const run = async () => {
    try {
      await setPolicy(world, { concurrency: '2', retryLimit: '2', retryBackoffDuration: '200ms', ...story.policy });
      await story.run(world);
      await expectInvariants(story, history);
    } catch (error) {
      if (error instanceof Error) {
        error.message += `\n\nWhat happened to the images:\n${await toldBy(kube)}`;
        error.message += `\n\nWho deleted Pods:\n${await podDeletions(history, fromMs)}`;
      }
      throw error;
    }
  };
  await andClearUp(
    run,
    () => history.stop(),
    () => {
      store.faults.splice(0);
      store.limitTo(undefined);
      return removeAll(world, goneWithinMs);
    },
    ...simulators.map(({ stop }) => stop),
    () => store.close(),
    () => rm(foldersBelow, { recursive: true, force: true }),
  );
}

/** Without an answer of the API server, the story's own error must still be seen. */
async function toldBy(kube: Kube): Promise<string> {
  const images = await kube.list(VMDiskImage, { namespace }).catch((error: Error) => error);
  if (images instanceof Error) return `unknown: ${images.message}`;
  const lines = images.flatMap(({ metadata, status }) =>
    (status?.history ?? []).map(({ time, fact, message }) => `${metadata.name} ${time} ${fact}: ${message}`),
  );
  return lines.join('\n') || 'nothing';
}

/** Only the audit log reports who deleted an importer Pod. */
async function podDeletions(history: History, fromMs: number): Promise<string> {
  const logFile = process.env.OT_AUDIT_LOG;
  if (!logFile) return 'unknown: OT_AUDIT_LOG names no audit log';
  const read = async () => {
    const { changes } = await history.evidence();
    const objectsOf = ({ kind }: Resource) => changes.map(({ object }) => object).filter((one) => one.kind === kind);
    const images = new Map(objectsOf(VMDiskImage).map(({ metadata: { uid, name } }) => [uid, name]));
    const imageOf = new Map(
      objectsOf(Pod).map(({ metadata: { name, labels } }) => [name, images.get(labels?.[imageUidLabel] ?? '')]),
    );
    return podDeletionsIn(await readFile(logFile, 'utf8'), namespace, fromMs)
      .map(({ time, pod = 'all', by }) => `${imageOf.get(pod) ?? 'no image'} ${time} ${pod}: ${by}`)
      .toSorted()
      .join('\n');
  };
  return read().then(
    (lines) => lines || 'no one',
    (error: Error) => `unknown: ${error.message}`,
  );
}

/** A lab goes step by step, and its Namespace last; Kubernetes takes its time for that. */
const workspaceGoneMs = 180_000;

/** Deletes what a story left, as a user would, and waits until all of it is deleted. */
async function removeAll(world: World, withinMs?: number): Promise<void> {
  const { kube } = world;
  // First of all: what belongs to a lab comes back until the lab is deleted, and only the lab lets go of its images.
  const labs = await kube.list(Workspace);
  for (const { metadata } of labs) await kube.delete(Workspace, metadata);
  for (const { metadata } of labs) await untilGone(world, Workspace, metadata, withinMs ?? workspaceGoneMs);
  const kinds: readonly Resource[] = [
    VirtualMachine,
    VMDiskImage,
    KubeVirtMachine,
    KubeVirtInstance,
    NetworkAttachmentDefinition,
    DataVolume,
    VolumeSnapshot,
    PersistentVolumeClaim,
    Pod,
    Subnet,
    Vpc,
  ];
  for (const kind of kinds) {
    const left = await kube.list(kind, kind.namespaced ? { namespace } : {});
    for (const { metadata } of left) await kube.delete(kind, metadata);
    for (const { metadata } of left) await untilGone(world, kind, metadata, withinMs);
  }
}

/** A real S3 server where there is one, else our own. */
const startStore = async (): Promise<ObjectStore> => {
  const options = { keys: [keys], publicBuckets: ['public'] };
  return (await findVersitygw()) !== undefined ? startVersitygwStore(options) : startObjectStore(options);
};

const base64 = (text: string) => Buffer.from(text).toString('base64');

function simulated({ simulators = {} }: Story, kube: Kube, foldersBelow: string) {
  if (simulators === false) return [];
  return [
    startCdi({
      kube,
      clock: realClock,
      importImage,
      ...simulators.cdi,
      // Simulated Pods have no node: the garbage collector deletes them while they terminate.
      timings: { nextPodMs: 500, ...simulators.cdi?.timings },
      variants: { ...simulators.cdi?.variants, clusterBinds: true, foldersBelow },
    }),
    startSnapshotter({ kube, clock: realClock, cutMs: 50, readyMs: 150, ...simulators.snapshotter }),
    startKubevirt({ kube, clock: realClock, ...simulators.kubevirt }),
    startKubeOvn({ kube, clock: realClock, ...simulators.kubeOvn }),
  ];
}

/** The policy as it is installed, with these sources, which no Pod reaches and so none inspects, and no Events of stories before. */
async function startAnew(kube: Kube, allowedSources: string): Promise<void> {
  const installed = await readManifests('deploy/base');
  const policy = ConfigMap.parse(installed.find(({ metadata }) => metadata.name === policyName));
  const found = await kube.get(ConfigMap, policyRef);
  if (found)
    await kube.replace(ConfigMap, { ...found, data: { ...policy.data, allowedSources, inspectTimeout: '0s' } });
  if (!(await kube.get(Namespace, { name: namespace })))
    await kube.create(Namespace, { metadata: { name: namespace } });
  await trustPublicationKey(kube);
  for (const place of [operatorNamespace, namespace]) {
    for (const { metadata } of await kube.list(Event, { namespace: place })) await kube.delete(Event, metadata);
  }
  for (const { metadata } of await kube.list(Secret, { namespace })) await kube.delete(Secret, metadata);
  await kube.create(Secret, {
    metadata: { name: 's3-reader', namespace },
    data: { accessKeyId: base64(keys.accessKeyId), secretKey: base64(keys.secretKey) },
  });
}
