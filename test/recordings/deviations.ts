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
    what: 'an importer that ends before the kubelet reports that it runs: its Pod is never Running, and its DataVolume skips that state',
    reason: 'the real kubelet polls about once a second; the local one reports each state of a container',
    scenarios: /^(?:00|06|32|33)-/,
    of: /^(?:DataVolume|importer Pod)(?: \d+)?$/,
    lines:
      /^[-+](?:(?:Pending|Running) \| restarts 0 \| (?:running|terminated 0 )|Import(?:Scheduled|InProgress) .*Running (?:True|False (?:Scratch space required|ContainerCreating|Completed)))/,
  },
  {
    what: 'no prep Pod is created',
    reason:
      'the local driver needs none to bind a claim or to resize its volume; the Pod has no label that functions select',
    scenarios: /^5[0124]-/,
    of: /^prep Pod$/,
    lines: /^-/,
  },
];

/** Scenarios that are not compared yet, and what is missing. */
export const notHeld: Record<string, string> = {
  '53-clone-filesystem-host-assisted':
    'no local Pod uploads or serves: a copy from volume to volume only increases a percentage',
};
