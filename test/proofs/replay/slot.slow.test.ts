import { describe, expect, test } from 'vitest';
import prune from '../../../functions/prune/index.ts';
import startSync from '../../../functions/start-sync/index.ts';
import type { Action } from '../../../shared/actions.ts';
import { holdersOf, leaseName, slotsAnnotation } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import {
  attemptLabel,
  diskImageFinalizer,
  imageUidLabel,
  VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { decided } from './reconcile.ts';
import { Recording } from './recording.ts';
import { scenarioNames } from './scenarios.ts';

const withImage = scenarioNames().filter((name) => !name.startsWith('5'));
const kinds = [VMDiskImage, DataVolume, Pod, PersistentVolumeClaim, VolumeSnapshot].map(({ kind }) => kind);

/** The numbers of the writes after which a reconcile may read. */
const momentsOf = ({ changes }: Recording, from: number, end: number) =>
  changes.flatMap(({ object }, index) =>
    index >= from && index < end && kinds.includes(object.kind) ? [index + 1] : [],
  );

/** From the DataVolume of each attempt to the next one's. */
function attemptsOf(recording: Recording) {
  const { changes } = recording;
  const made = changes.flatMap(({ type, object }, index) =>
    object.kind === DataVolume.kind && type === 'ADDED' ? [{ object, index }] : [],
  );
  return made.map(({ object, index }, place) => ({
    attempt: Number(object.metadata.labels?.[attemptLabel]),
    uid: object.metadata.labels?.[imageUidLabel] ?? '',
    moments: momentsOf(recording, index, made[place + 1]?.index ?? changes.length),
  }));
}

function leaseOf({ uid, attempt }: { uid: string; attempt: number }, recording: Recording) {
  const { metadata } = recording.changes.find(({ object }) => object.metadata.uid === uid)?.object ?? {};
  const image = `${metadata?.namespace}/${metadata?.name}`;
  const holders = [{ uid, image, revision: 1, attempt, since: '2026-11-24T07:00:00Z' }];
  return Lease.parse({
    metadata: {
      name: leaseName,
      namespace: operatorNamespace,
      annotations: { [slotsAnnotation]: JSON.stringify(holders) },
    },
    spec: { acquireTime: '2026-11-24T07:00:00.000000Z' },
  });
}

/** Importers that have not ended. */
const atWork = (recording: Recording, moment: number) =>
  recording
    .state(Pod, moment)
    .filter(
      ({ metadata, status }) => metadata.labels?.[imageUidLabel] && !/^(Succeeded|Failed)$/.test(status?.phase ?? ''),
    )
    .map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);

describe('the slot of an attempt is freed when its importer has ended, and not before', () => {
  test.each(withImage)('%s', async (name) => {
    const recording = new Recording(name);
    for (const held of attemptsOf(recording)) {
      const lease = leaseOf(held, recording);
      /** A reconcile reads the Lease and the image first, then DataVolumes, claims and Pods; the opposite order proves more than is promised. */
      const isFreed = async (image: number, dataVolumes: number, pods: number) => {
        const claims = Math.max(dataVolumes, pods);
        const counts: Record<string, number> = {
          VMDiskImage: image,
          DataVolume: dataVolumes,
          PersistentVolumeClaim: claims,
          Pod: pods,
        };
        const actions = await decided(startSync, recording, {
          asOf: ({ kind }) => counts[kind] ?? 0,
          given: [{ resource: Lease, object: lease }],
          nowMs: recording.msAt(Math.max(dataVolumes, pods)),
          batch: { sweep: true },
        });
        const written = actions.find((action) => action.do === 'replace' && action.resource.kind === Lease.kind);
        return (
          written?.do === 'replace' && holdersOf(Lease.parse(written.object))?.every(({ uid }) => uid !== held.uid)
        );
      };
      for (const [first, second] of recording.pairs(held.moments)) {
        for (const [dataVolumes, pods] of [
          [first, second],
          [second, first],
        ] as const) {
          if (!(await isFreed(first, dataVolumes, pods))) continue;
          const later = held.moments
            .filter((moment) => moment >= second)
            .flatMap((moment) => atWork(recording, moment));
          expect(later, `${name} a${held.attempt} at ${dataVolumes} and ${pods}`).toEqual([]);
        }
      }
      const last = held.moments.at(-1) ?? 0;
      expect(await isFreed(last, last, last), `attempt ${held.attempt} at the end`).toBe(true);
    }
  });
});

/** The scenarios whose image was deleted, with the moments of its deletion. */
const deleted = withImage.flatMap((name) => {
  const recording = new Recording(name);
  const of = (change: (typeof recording.changes)[number]) => change.object.kind === VMDiskImage.kind;
  const from = recording.changes.findIndex((one) => of(one) && one.object.metadata.deletionTimestamp);
  const end = recording.changes.findIndex((one) => of(one) && one.type === 'DELETED');
  return from < 0 || end < 0 ? [] : [{ name, recording, from, end }];
});

describe('a deleted image is retained until all its objects are gone, but for the claims, which are deleted before', () => {
  test.each(deleted)('$name', async ({ recording, from, end }) => {
    /** The uids of what is deleted before the finalizer; undefined if the finalizer stays. */
    const lets = async (first: number, second: number): Promise<Set<string> | undefined> => {
      const [image] = recording.state(VMDiskImage, first);
      if (!image) return undefined;
      const { namespace, name: imageName } = image.metadata;
      const subject = { apiVersion: VMDiskImage.apiVersion, kind: VMDiskImage.kind, namespace, name: imageName };
      const actions = await decided(prune, recording, {
        asOf: ({ kind }) => (kind === VMDiskImage.kind ? first : second),
        given: [],
        nowMs: recording.msAt(second),
        batch: { subjects: [subject] },
      });
      const write = actions.find((action) => action.do === 'patchMetadata');
      const finalizers = write?.do === 'patchMetadata' ? (write.metadata.finalizers as string[]) : undefined;
      if (finalizers === undefined || finalizers.includes(diskImageFinalizer)) return undefined;
      const before = actions.slice(0, actions.indexOf(write as Action));
      return new Set(before.flatMap((action) => (action.do === 'delete' ? [action.of.metadata.uid] : [])));
    };
    const moments = momentsOf(recording, from, end);
    for (const [first, second] of recording.pairs(moments)) {
      const ended = await lets(first, second);
      if (!ended) continue;
      const left = ([DataVolume, PersistentVolumeClaim, VolumeSnapshot] as Resource<KubernetesObject>[])
        .flatMap((resource) => recording.state(resource, second))
        .filter(({ metadata }) => metadata.labels?.[imageUidLabel])
        .filter(({ kind, metadata: { uid, deletionTimestamp } }) => {
          return kind !== PersistentVolumeClaim.kind || !(ended.has(uid) || deletionTimestamp);
        })
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(left).toEqual([]);
    }
    const last = moments.at(-1) ?? 0;
    expect(await lets(last, last)).toBeDefined();
  });
});
