import type { Story } from './canonical.ts';

/** Something that a cluster shows in one run and not in the next. */
export interface Chance {
  what: string;
  /** The names of the stories that it affects. */
  of: RegExp;
  /** States that may be missing. */
  states?: RegExp;
  /** The part of a state that may differ, and its replacement. */
  masks?: [RegExp, string];
}

/** Everything that depends on chance, on both sides. */
export const chances: Chance[] = [
  {
    what: 'whether a Pod whose container ended with code 0 shows its phase before CDI deletes it (the real one: 2 of 52 times with a scratch request)',
    of: /^importer Pod/,
    states: /^(?:Succeeded|(?:Running|Succeeded) being deleted) \| restarts \d+ \| terminated 0 /,
  },
  {
    what: 'whether a Pod is observed again before its deletion, with no container or a waiting one',
    of: /^importer Pod/,
    states: /^Pending being deleted/,
  },
  {
    what: 'whether the old importer still exists when CDI creates the importer with scratch space',
    of: /^DataVolume/,
    states: /Running False ErrStartingPod /,
  },
  {
    what: 'which Event about the volume Bound shows while it is False: the newest that CDI has observed; its text is not compared',
    of: /^DataVolume/,
    masks: [/Bound False Pending "(?:[^"\\]|\\.)*"/, 'Bound False Pending <newest Event>'],
  },
  {
    what: 'whether a failed container is restarted before its Pod is deleted, and how it ends then',
    of: /Pod/,
    states:
      /^Running(?: being deleted)? \| restarts [1-9]|^Running being deleted \| restarts 0 \| (?:running|terminated [^0])/,
  },
  {
    what: 'whether the kubelet reports the end of a Pod that is being deleted before the Pod is gone (the real one: 46 of 182 importer Pods)',
    of: /^importer Pod/,
    states: /^Failed being deleted/,
  },
  {
    what: 'the progress of an import or copy when CDI reconciles',
    of: /^DataVolume/,
    masks: [/^((?:Import|Clone)InProgress|Failed) (?:N\/A|[\d.]+%)/, '$1 <progress>'],
  },
  {
    what: 'whether the phase Pending is written before the claim exists, and stays until the first importer',
    of: /^DataVolume/,
    states: /Bound False NotFound "No PVC found"/,
  },
  { what: 'the same', of: /^DataVolume/, masks: [/^Pending (?=N\/A)/, '- '] },
  {
    what: 'whether CDI observes an importer before the kubelet, or while it waits for its scratch claim',
    of: /^DataVolume/,
    states: /^ImportScheduled .*Running False (?:- -|Scratch space required|Unschedulable)/,
  },
  {
    what: 'whether a claim whose volume was handed over is deleted before or after it is Lost',
    of: /^(?:prime|temporary) claim/,
    states: /^(?:Bound being deleted|Lost)/,
  },
  {
    what: 'whether CDI observes the short steps of a clone (the real one: RebindInProgress in 2 of 5); the others are compared',
    of: /^DataVolume/,
    states:
      /^(?:RebindInProgress|PrepClaimInProgress .*Bound True|PendingPopulation .*Running False - -|Succeeded .*(?:being deleted|Bound False Pending) .*"Clone Complete")/,
  },
  {
    what: 'what Running shows while a clone is scheduled',
    of: /^DataVolume/,
    masks: [
      /^(CloneScheduled N\/A .*)Running False (?:- -|Pending "Clone Pending"|Error "claim (?:[^"\\]|\\.)*")/,
      '$1Running False <not started>',
    ],
  },
  {
    what: 'whether the Pod that receives a copy is ready when CDI reconciles',
    of: /^DataVolume/,
    states: /^CloneInProgress .*Running False Pod is running/,
  },
  { what: 'the same before the first phase', of: /^DataVolume/, states: /^- N\/A .*Running False Unschedulable/ },
];

/** Events that occur in one run and not in the next. */
export const chanceEvents: { what: string; lines: RegExp }[] = [
  { what: 'each text of Bound is an Event, too', lines: /^DataVolume: Normal (?:Pending|NotFound) / },
  {
    what: 'a phase has an Event only if CDI reconciles in time',
    lines: /^DataVolume: Normal (?:ImportScheduled|ImportInProgress|RebindInProgress|CloneScheduled) /,
  },
  {
    what: 'CDI copies each Event about prime that it observes',
    lines: /^claim: \w+ \w+ "\[(?:prime|tmp-pvc|tmp-source-pvc)-<uid>\] : /,
  },
  {
    what: 'what Running shows while a clone is scheduled',
    lines: /^DataVolume: (?:Warning Pending "Clone Pending"|Warning Error "claim )/,
  },
  {
    what: 'a failure that is over before CDI reconciles has no Event',
    lines:
      /^(?:prime claim: Warning ErrImportFailed|DataVolume: Warning (?:Error|ImagePullFailed|Unschedulable|ErrStartingPod)|prime claim: Warning ErrStartingPod|DataVolume: Warning ImportFailed|claim: Warning importFailed|claim: Warning ErrCreatingPVCPrime|DataVolume: Warning ErrResourceMarkedForDeletion) /,
  },
];

export const isChanceEvent = (event: string) => chanceEvents.some(({ lines }) => lines.test(event));

export const withoutChance = (stories: readonly Story[]): Story[] => stories.map(tidy);

function tidy({ name, lines }: Story): Story {
  const rules = chances.filter(({ of }) => of.test(name));
  const kept = lines
    .filter((line) => !rules.some(({ states }) => states?.test(line)))
    .map((line) => rules.reduce((text, { masks }) => (masks ? text.replace(...masks) : text), line));
  return { name, lines: kept.filter((line, index) => line !== kept[index - 1]) };
}
