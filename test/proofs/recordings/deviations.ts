/** A known and accepted difference of the local simulators from the recordings. */
export interface Deviation {
  what: string;
  reason: string;
  scenarios: RegExp;
  /** The names of the stories that show it; `Event` for Events. */
  of: RegExp;
  /** The lines that differ: `-` if only the recording has the line, `+` if only the local cluster has it. */
  lines: RegExp;
}

/** Every accepted difference between the simulators and the recordings. */
export const deviations: Deviation[] = [
  {
    what: 'CDI creates claim and import source again for a DataVolume that is already deleted, and they are deleted at once',
    reason: 'CDI reads its cache; the local one reads the store, and no function reads an object that is being deleted',
    scenarios: /^(?:03|06|10|13|16|17|21|23|26|27|31|40|42)-/,
    of: /^(?:VolumeImportSource|claim|prime claim|importer Pod) \d+$/,
    lines: /^-/,
  },
  {
    what: 'the claims of the later attempts have other numbers',
    reason: 'the claim that CDI creates again counts',
    scenarios: /^26-/,
    of: /^claim 2$/,
    lines: /^\+Pending/,
  },
  {
    what: 'an importer or prep Pod that ends before the kubelet reports that it runs is never Running, and the DataVolume skips that state',
    reason: 'the real kubelet polls about once a second; the local one reports each state of a container',
    scenarios: /^(?:00|06|32|33|50|52)-/,
    of: /^(?:DataVolume|importer Pod|prep Pod)(?: \d+)?$/,
    lines:
      /^[-+](?:(?:Pending|Running) \| restarts 0 \| (?:running|terminated 0 )|Import(?:Scheduled|InProgress) .*Running (?:True|False (?:Scratch space required|ContainerCreating|Completed)))/,
  },
];
