import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { Claim, DataVolume, Pod, StorageClass, VolumeCloneSource, VolumeImportSource } from '../controller/kinds.ts';
import type { Shared } from '../controller/simulator.ts';
import type { TimeInState } from '../controller/time-in-state.ts';
import type { EventText } from '../controller/write.ts';
import type { ImportRequest, ImportResult } from '../importer/import-image.ts';
import { VolumeSnapshot } from '../snapshots/kinds.ts';
import type { Faults, ImportName } from './faults.ts';
import type { CdiTimings, CdiVariants } from './settings.ts';
import type { StorageProfiles } from './storage-profile.ts';

export type ImportImage = (request: ImportRequest) => Promise<ImportResult>;

export const watched = {
  dataVolumes: DataVolume,
  claims: Claim,
  pods: Pod,
  importSources: VolumeImportSource,
  cloneSources: VolumeCloneSource,
  snapshots: VolumeSnapshot,
  storageClasses: StorageClass,
};

/** What the simulated controllers share. All of it but the settings can be lost without harm to the objects. */
export interface CdiContext extends Shared<typeof watched> {
  timings: CdiTimings;
  variants: CdiVariants;
  profiles: StorageProfiles;
  importImage: ImportImage;
  faults: Faults;
  /** The metrics endpoint of the importers: the progress that this Pod reports. */
  kubelet: { progressOf(pod: ObjectReference): string | undefined };
  /** The newest event about each claim that is being provisioned, by uid. */
  notes: Map<string, EventText>;
  /** The volume of each claim, by the claim's key, so that it can go when the claim is gone. */
  volumes: Map<string, string>;
  /** Since when a driver has been making a claim's volume, by uid. */
  provisioning: Map<string, number>;
  /** Claims that wait for the handing over of their volume, by uid. */
  handOvers: Set<string>;
  /** How long a clone has met an error, and a claim has been without the first importer, which lacked scratch space. */
  times: TimeInState;
  /** Since when a pod's phase is to flap, and since when it looks to have gone back, by uid. */
  flaps: Map<string, { sinceMs: number; backMs?: number }>;
  /** What fault rules match a claim's import by; undefined for a claim that no import fills. */
  importNameOf(claim: Claim): ImportName | undefined;
  /** How long a controller that is down will still be down for this import; 0 when it is up. */
  downForMs(namespace: string | undefined, name: ImportName | undefined): number;
  /** Has the controller look at the claim that this one belongs to. */
  wakeOwner(claim: Claim): void;
}
