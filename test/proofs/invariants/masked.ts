import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { leaseName } from './plain-rules.ts';
import { slotsOf } from './slots-of.ts';

/** The kinds that are compared between two runs: what users declare, and what the functions create for an image. */
const compared: ReadonlySet<string> = new Set([
  VMDiskImage.kind,
  DataVolume.kind,
  VolumeSnapshot.kind,
  VirtualMachine.kind,
  ConfigMap.kind,
]);

export const isCompared = ({ kind, metadata }: KubernetesObject) =>
  compared.has(kind) || (kind === Lease.kind && metadata.name === leaseName);

/** A name that is the same in every run: without the hash of the uid and the number of the attempt. */
export const maskedName = ({ kind, apiVersion, metadata: { namespace, name } }: KubernetesObject) =>
  `${kind}.${apiVersion.split('/')[0]} ${namespace}/${maskName(name)}`;

const maskName = (name: string) => name.replace(/-[0-9a-f]{8}-r(\d+)(-a\d+)?$/, '-#-r$1');

type ConditionLike = { type: string; status: string; reason?: string };

/** The state of an object without uids, times and counts of attempts. */
export function maskedState(object: KubernetesObject): unknown {
  const { labels, annotations, finalizers, deletionTimestamp, ownerReferences } = object.metadata;
  const metadata = {
    labels: mask(labels),
    annotations: object.kind === Lease.kind ? undefined : mask(annotations),
    finalizers: [...(finalizers ?? [])].sort(),
    isDeleted: deletionTimestamp !== undefined,
    owners: ownerReferences?.map(({ kind, name }) => `${kind} ${maskName(name)}`),
  };
  if (object.kind === Lease.kind)
    return [...(slotsOf(object as Lease)?.values() ?? [])].map(({ image }) => image).sort();
  const { spec, status = {}, data } = object as { spec?: unknown; data?: unknown; status?: Record<string, unknown> };
  const { phase, revision, readyToUse, restoreSize, references, rootDisk, snapshot, conditions } = status;
  const isOurs = object.apiVersion.startsWith('pelotech.ot/');
  const described = isOurs
    ? ((conditions as ConditionLike[] | undefined) ?? []).map(describeCondition).sort()
    : undefined;
  return mask({
    metadata,
    spec,
    data,
    status: { phase, revision, readyToUse, restoreSize, references, rootDisk, snapshot, conditions: described },
  });
}

const describeCondition = ({ type, status, reason }: ConditionLike) => `${type} ${status} ${reason}`;

const uidKeys = new Set(['pelotech.ot/disk-image-uid', 'image', 'cloned', 'made', 'uid']);
const dropped = new Set(['pelotech.ot/attempt', 'pelotech.ot/pruned-as-unreferenced-since']);
const isTime = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text);

function mask(value: unknown): unknown {
  if (typeof value === 'string') return isTime(value) ? 'a time' : maskName(value);
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => inner !== undefined && !dropped.has(key))
      .map(([key, inner]) => [key, uidKeys.has(key) ? 'a uid' : mask(inner)]),
  );
}
