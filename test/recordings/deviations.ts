/** Something that the local simulators do otherwise than was recorded, known and accepted. */
export interface Deviation {
  what: string;
  reason: string;
  scenarios: RegExp;
  /** Whose stories it shows in; `Event` for Events. */
  of: RegExp;
  /** The lines that differ by it: `-` and what only the recording has, `+` and what only the local cluster has. */
  lines: RegExp;
}

/** Every accepted difference between the simulators and the recordings. */
export const deviations: Deviation[] = [
  {
    what: 'CDI makes claim and import source once more for a DataVolume that is already deleted, and they go at once',
    reason:
      'it looks at what it has cached; the local one looks at each object anew, and nothing of ours looks at what is being deleted',
    scenarios: /^(?:03|06|10|13|16|17|21|23|26|27|31|40|42)-/,
    of: /^(?:VolumeImportSource|claim|prime claim|importer Pod) \d+$/,
    lines: /^-/,
  },
  {
    what: 'the claims of the attempts after that one have other numbers',
    reason: 'the claim that CDI makes once more counts',
    scenarios: /^26-/,
    of: /^claim 2$/,
    lines: /^\+Pending/,
  },
  {
    what: 'an importer that has ended before the kubelet tells that it runs: its Pod is never Running, and its DataVolume passes over that',
    reason: 'the real kubelet looks about once a second; the local one tells each state of a container',
    scenarios: /^(?:00|06|32|33)-/,
    of: /^(?:DataVolume|importer Pod)(?: \d+)?$/,
    lines:
      /^[-+](?:(?:Pending|Running) \| restarts 0 \| (?:running|terminated 0 )|Import(?:Scheduled|InProgress) .*Running (?:True|False (?:Scratch space required|ContainerCreating|Completed)))/,
  },
  {
    what: 'there is no prep Pod',
    reason: 'the local driver needs none to bind a claim or to resize its volume; it has no label that ours look for',
    scenarios: /^5[0124]-/,
    of: /^prep Pod$/,
    lines: /^-/,
  },
];

/** Scenarios that are not held to yet, and what is missing. */
export const notHeld: Record<string, string> = {
  '53-clone-filesystem-host-assisted':
    'no Pod uploads or serves here: a copy from volume to volume is a percentage that grows',
};
