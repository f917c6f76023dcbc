import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleProgram } from '../../../../deploy/image/bundle.ts';
import { documents } from '../../../../deploy/manifests.ts';
import { brokerManifests, systemsOf } from '../../../../knative/broker.ts';
import { permissionManifests } from '../../../../knative/permissions.ts';
import { deployments, knativeServices, image as placeholder } from '../../../../knative/services.ts';
import { sourceManifests } from '../../../../knative/sources.ts';
import { triggerManifests } from '../../../../knative/triggers.ts';
import { Lease } from '../../../../shared/kinds/coordination/lease.ts';
import type { KubernetesObject } from '../../../../shared/kinds/resource.ts';
import {
  bringUp,
  imageUnderTest,
  type Overlay,
  removeObjects,
  textOf,
  withEnv,
} from '../../../cluster/installation.ts';
import floor, { slotsLease, slotsVariable } from './function.ts';

const image = 'localhost/ot-floor:dev';

/** Makes the floor's image of the image under test and loads it for the cluster's pods. */
export async function buildKnativeFloor(): Promise<void> {
  const harness = process.env.OT_CLUSTER_HARNESS;
  if (!harness) throw new Error('expected OT_CLUSTER_HARNESS to name the folder that loads images, found none');
  const folder = await mkdtemp(join(tmpdir(), 'ot-floor-'));
  try {
    await bundleProgram('test/bench/cluster/floor/main.ts', folder);
    const file = fileURLToPath(new URL('Dockerfile', import.meta.url));
    const base = ['--build-arg', `BASE=${imageUnderTest()}`];
    await promisify(execFile)(join(harness, 'image'), [image, file, folder, ...base]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Installs the floor as a function of ours would be, with a Broker and sources of its own, and resolves when events reach it. */
export async function startKnativeFloor(overlay: Overlay, slots: number): Promise<{ stop(): Promise<void> }> {
  const all = [floor];
  const manifests = [
    { apiVersion: Lease.apiVersion, kind: Lease.kind, metadata: slotsLease },
    ...permissionManifests(all),
    ...(overlay === 'deployments' ? deployments : knativeServices)(all),
    ...brokerManifests(systemsOf(all), all),
    ...triggerManifests(all),
    ...[...sourceManifests(all).values()].flat(),
  ];
  // A queue of 2,000 in memory does not fit into what our functions may have.
  const text = textOf(manifests)
    .replaceAll(`"image":"${placeholder}"`, `"image":"${image}"`)
    .replaceAll('"limits":{"memory":"256Mi"}', '"limits":{"memory":"1Gi"}');
  const objects: KubernetesObject[] = documents(text).map((object) => withEnv(object, { [slotsVariable]: `${slots}` }));
  await bringUp(overlay, objects);
  return { stop: () => removeObjects(objects) };
}
