import { machineNamespace } from './machines.ts';
import type { DeletionResult, MachineResult, MachinesResult } from './result.ts';
import { slackBytesPerAttempt } from './slack.ts';

/** What of the second act is not as the demo claims it to be, one sentence each. */
export function machinesFaults(result: MachinesResult): string[] {
  return [
    ...result.machines.flatMap(machineFaults),
    ...result.tooEarly,
    ...lateFaults(result),
    ...deletionFaults(
      result.deletion,
      result.machines.filter(({ expected }) => expected.isDeleted),
    ),
    ...(result.leftOver.length > 0
      ? [`left over: expected nothing beside what is in use, found ${result.leftOver.join(', ')}`]
      : []),
  ];
}

function machineFaults({ name, expected, phase, message, ...seen }: MachineResult): string[] {
  if (seen.readyAfterSeconds === null)
    return [`${name}: expected Ready, found ${phase || 'no phase'}${message ? ` (${message})` : ''}`];
  const told = seen.warnings.map(({ reason }) => reason).join(', ') || 'none';
  const mismatches = seen.warnings.filter(({ reason }) => reason === 'TemplateMismatch');
  const unnamed = expected.contradicted.filter((field) => !mismatches[0]?.message.includes(` ${field} (`));
  return [
    expected.waits && !seen.hasWaited && `${name}: expected to be seen waiting for its image, was not`,
    expected.isDeleted !== seen.isGone &&
      `${name}: expected ${expected.isDeleted ? 'gone' : 'there'}, found the contrary`,
    !expected.isDeleted && phase !== 'Ready' && `${name}: expected to stay Ready, found ${phase} (${message})`,
    !expected.isDeleted && seen.ipAddress === '' && `${name}: expected an address, found none`,
    seen.warnings.length !== (expected.contradicted.length > 0 ? 1 : 0) &&
      `${name}: expected ${expected.contradicted.length > 0 ? 'one Warning, TemplateMismatch' : 'no Warning'}, found ${told}`,
    mismatches.length > 0 && unnamed.length > 0 && `${name}: expected TemplateMismatch to name ${unnamed.join(', ')}`,
  ].filter((fault) => typeof fault === 'string') as string[];
}

/** The image that no machine found was made once, for one of those that asked, and downloaded once; no other was. */
function lateFaults({ machines, made, late, otherBytesDownloaded }: MachinesResult): string[] {
  const asking = machines.filter(({ image }) => image === late.name).map(({ name }) => name);
  const found = made.map(({ name, times }) => `${name} ${times} times`).join(', ') || 'none';
  const most = late.bytesNeeded + slackBytesPerAttempt;
  return [
    (made.length !== 1 || made[0]?.name !== late.name || made[0].times !== 1) &&
      `images made: expected ${late.name} once, found ${found}`,
    made.length === 1 &&
      !asking.includes(made[0]?.requestedBy ?? '') &&
      `${late.name}: expected the label of one of ${asking.join(', ')}, found ${made[0]?.requestedBy || 'none'}`,
    (late.bytesDownloaded < late.bytesNeeded || late.bytesDownloaded > most) &&
      `${late.name}: expected one download (${late.bytesNeeded} to ${most} bytes), found ${late.bytesDownloaded} bytes`,
    otherBytesDownloaded > 0 && `machines: expected no other download, found ${otherBytesDownloaded} bytes`,
  ].filter((fault) => typeof fault === 'string');
}

/** It stayed for as long as a machine held it, named those that did, and went after the last of them. */
function deletionFaults({ image, held, goneAtSeconds }: DeletionResult, holders: readonly MachineResult[]): string[] {
  const expected = holders.map((_, index) => holders.slice(index).map(({ name }) => `${machineNamespace}/${name}`));
  const found = held.map(({ by }) => by.join(' and '));
  const wanted = expected.map((names) => names.join(' and '));
  const last = holders.at(-1)?.deletedAtSeconds ?? null;
  return [
    found.join() !== wanted.join() &&
      `${image}: expected DeletionHeld to name ${wanted.join(', then ')}, found ${found.join(', then ') || 'nobody'}`,
    goneAtSeconds === null && `${image}: expected to go with its last machine, is there`,
    goneAtSeconds !== null &&
      (last === null || goneAtSeconds < last) &&
      `${image}: expected to stay until its last machine was deleted, went before`,
  ].filter((fault) => typeof fault === 'string');
}
