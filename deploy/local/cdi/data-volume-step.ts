import { Claim, DataVolume, type DataVolumeStatus, VolumeImportSource } from '../controller/kinds.ts';
import { isControlledBy } from '../controller/owner.ts';
import { type EventText, patchOf, statusOf, type Write } from '../controller/write.ts';
import { annotation } from './annotation.ts';
import { targetClaimFor } from './claims.ts';
import { eventsOf, hinderedStatus, nextStatus, saysMore } from './data-volume-status.ts';
import { volumeImportSourceFor, volumeImportSourceName } from './import-source.ts';
import type { CdiVariants } from './settings.ts';
import type { Rendered } from './storage-profile.ts';

export interface ObservedDataVolume {
  dataVolume: DataVolume;
  claim: Claim | undefined;
  prime: Claim | undefined;
  importSource: VolumeImportSource | undefined;
  /** The spec its claim gets, or why there can be none. */
  rendered: Rendered;
  /** Whether the class is made for populators. */
  csi: boolean;
  waitsForConsumer: boolean;
  /** Percentage the running importer reports, where claim and importer know no populator between them. */
  podProgress: string | undefined;
  nowMs: number;
}

const component = 'datavolume-import-controller';

/** The next write about a DataVolume, in CDI's order: annotation, first status, import source, claim, status after status. */
export function nextForDataVolume(observed: ObservedDataVolume, variants: CdiVariants): Write[] {
  const { dataVolume, claim, rendered, importSource } = observed;
  const phase = dataVolume.status?.phase ?? '';
  if (!claim && 'refused' in rendered)
    return hindered(observed, '', 'ErrClaimNotValid', rendered.refused, rendered.event);
  const populator = dataVolume.metadata.annotations?.[annotation.usePopulator];
  if (populator === undefined) {
    const value = String(observed.csi && !variants.classic);
    return [patchOf(DataVolume, dataVolume, { metadata: { annotations: { [annotation.usePopulator]: value } } })];
  }
  const usePopulator = populator === 'true';
  const imported = phase === 'Succeeded' && claim?.metadata.annotations?.[annotation.podPhase] === 'Succeeded';
  if (!claim && !phase && !variants.skipPending) return statusWrites(observed, usePopulator);
  if (usePopulator && !importSource && !imported)
    return [{ do: 'create', resource: VolumeImportSource, object: volumeImportSourceFor(dataVolume) }];
  if (!claim && 'spec' in rendered)
    return [{ do: 'create', resource: Claim, object: targetClaimFor(dataVolume, rendered.spec, usePopulator) }];
  if (imported && importSource && claim.status?.phase === 'Bound')
    return [deletionOfImportSource(dataVolume, importSource)];
  return statusWrites(observed, usePopulator);
}

/** Whether the claim of this name is someone else's, so that nothing can be imported. */
export const isForeign = ({ claim, dataVolume }: Pick<ObservedDataVolume, 'claim' | 'dataVolume'>) =>
  claim !== undefined && !claim.metadata.deletionTimestamp && !isControlledBy(claim, dataVolume);

/** The writes that say why a DataVolume gets no claim. */
export function hindered(
  { dataVolume, nowMs }: Pick<ObservedDataVolume, 'dataVolume' | 'nowMs'>,
  phase: string,
  reason: string,
  message: string,
  event = message,
) {
  const status = hinderedStatus(dataVolume, phase, reason, message, nowMs);
  if (!saysMore(dataVolume.status, status)) return [];
  return withEvents(dataVolume, status, [
    { type: 'Warning', reason, message: event },
    { type: 'Normal', reason, message },
  ]);
}

const deletionOfImportSource = (dataVolume: DataVolume, { metadata }: VolumeImportSource): Write => ({
  do: 'delete',
  resource: VolumeImportSource,
  ref: { namespace: dataVolume.metadata.namespace, name: volumeImportSourceName(dataVolume) },
  uid: metadata.uid,
});

function statusWrites(observed: ObservedDataVolume, usePopulator: boolean): Write[] {
  const { dataVolume, podProgress, nowMs } = observed;
  const { status: next, phaseEvent } = nextStatus({ ...observed, usePopulator });
  const showsPod = !usePopulator && podProgress !== undefined && next.phase === 'ImportInProgress';
  const status = showsPod ? { ...next, progress: podProgress } : next;
  const heartbeat = !usePopulator && isUnderWay(status.phase) && heartbeatIsDue(dataVolume.status, nowMs);
  if (!saysMore(dataVolume.status, status) && !heartbeat) return [];
  return withEvents(dataVolume, status, eventsOf(dataVolume.status, status, phaseEvent, usePopulator));
}

export const withEvents = (
  dataVolume: DataVolume,
  status: DataVolumeStatus,
  events: EventText[],
  from = component,
): Write[] => [
  statusOf(DataVolume, dataVolume, { ...status, phase: status.phase || undefined }),
  ...events.map((event): Write => ({ do: 'event', about: dataVolume, from, ...event })),
];

export const isUnderWay = (phase: string) => phase.startsWith('Import');

const heartbeatMs = 2000;

const heartbeatIsDue = (status: DataVolumeStatus | undefined, nowMs: number) =>
  (status?.conditions ?? []).every(
    ({ lastHeartbeatTime }) => nowMs - Date.parse(lastHeartbeatTime ?? '') >= heartbeatMs,
  );
