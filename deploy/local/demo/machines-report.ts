import { machineColumns, machineRow } from '../../terminal/machine-table.ts';
import { styled } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { tableLines } from '../../terminal/table.ts';
import { type Block, blank, countsOf, headline, saidSeconds, table, text } from './blocks.ts';
import { downloadFaults, faultsIn } from './faults.ts';
import { machineNamespace } from './machines.ts';
import type { playMachines } from './machines-act.ts';

export type MachinesResult = ReturnType<ReturnType<typeof playMachines>['result']>;
export type MachineResult = MachinesResult['machines'][number];

/** What the second act shows while it plays; an image without a phase does not exist. */
export type MachinesView = ReturnType<ReturnType<typeof playMachines>['view']>;

/** The images that machines name, and a line for each machine. */
export const machinesFrame = ({ images, machines }: MachinesView, elapsedMs: number): Block[] => [
  headline(
    elapsedMs,
    countsOf(machines, {
      provisioning: ['', 'Provisioning'],
      ready: ['Ready'],
      failed: ['Failed'],
      deleted: ['Terminating', 'Gone'],
    }),
  ),
  blank,
  table(images, [
    ['IMAGE', ({ name }) => name],
    ['PHASE', ({ phase }) => (phase === undefined ? styled('dim', 'not there') : phaseSpan(phase))],
    ['REFS', ({ references }) => String(references ?? ''), 'right'],
    ['', ({ remark }) => styled('dim', remark)],
  ]),
  blank,
  (look) =>
    tableLines(
      machineColumns,
      machines.map((machine) => machineRow(machine, machine.remark)),
      look,
    ),
];

/** A line for each machine, then what was special in a sentence each. */
export const machinesReport = ({ machines, made, deletion }: MachinesResult): Block[] => [
  table(machines, [
    ['MACHINE', ({ name }) => name],
    ['PHASE', ({ isGone, phase }) => phaseSpan(isGone ? 'Gone' : phase)],
    ['READY AFTER', ({ readyAfterSeconds: after }) => (after === null ? '-' : saidSeconds(after)), 'right'],
    ['IMAGE', ({ image }) => image],
    ['IP', ({ ipAddress }) => ipAddress],
  ]),
  ...[
    ...made.map((image) => madeSentence(image, machines)),
    ...machines.flatMap(({ name, warnings }) =>
      warnings.map(({ reason, message }) => `${name} was told ${reason}: ${message}`),
    ),
    ...deletionSentence(deletion),
  ].flatMap((sentence) => [blank, text(sentence)]),
];

function madeSentence(
  { name, requestedBy, times }: MachinesResult['made'][number],
  machines: readonly MachineResult[],
) {
  const waiting = machines.filter(({ image, hasWaited }) => image === name && hasWaited).map((machine) => machine.name);
  const often = times === 1 ? 'once' : `${times} times`;
  return `${name} was not there when ${waiting.join(' and ')} asked for it: made ${often}, for ${requestedBy}.`;
}

function deletionSentence({ image, askedAtSeconds, held, goneAtSeconds }: MachinesResult['deletion']): string[] {
  const [first] = held;
  if (askedAtSeconds === null || !first) return [];
  const ending =
    goneAtSeconds === null
      ? 'It is still there.'
      : `It went ${saidSeconds(goneAtSeconds - askedAtSeconds)} later, when they had gone.`;
  return [`${image} was deleted while in use, and held: ${first.message} ${ending}`];
}

export const machinesTotal = ({ machines }: MachinesResult) =>
  `${machines.filter(({ readyAfterSeconds }) => readyAfterSeconds !== null).length} machines Ready`;

/** What of the second act differs from what the demo claims, one sentence each. */
export function machinesFaults({ machines, tooEarly, made, late, deletion, leftOver, ...others }: MachinesResult) {
  const asking = machines.filter(({ image }) => image === late.name).map(({ name }) => name);
  const found = made.map(({ name, times }) => `${name} ${times} times`).join(', ') || 'none';
  const [only] = made.length === 1 ? made : [];
  return faultsIn(
    machines.flatMap(machineFaults),
    tooEarly,
    (only?.name !== late.name || only.times !== 1) && `images made: expected ${late.name} once, found ${found}`,
    only &&
      !asking.includes(only.requestedBy) &&
      `${late.name}: expected the label of one of ${asking.join(', ')}, found ${only.requestedBy || 'none'}`,
    downloadFaults('machines', late, others.otherBytesDownloaded),
    deletionFaults(
      deletion,
      machines.filter(({ expected }) => expected.isDeleted),
    ),
    leftOver.length > 0 && `left over: expected nothing beside what is in use, found ${leftOver.join(', ')}`,
  );
}

function machineFaults({ name, expected, phase, message, ...seen }: MachineResult): string[] {
  if (seen.readyAfterSeconds === null)
    return [`${name}: expected Ready, found ${phase || 'no phase'}${message ? ` (${message})` : ''}`];
  const found = seen.warnings.map(({ reason }) => reason).join(', ') || 'none';
  const mismatches = seen.warnings.filter(({ reason }) => reason === 'TemplateMismatch');
  const unnamed = expected.contradicted.filter((field) => !mismatches[0]?.message.includes(` ${field} (`));
  const warned = expected.contradicted.length > 0;
  return faultsIn(
    expected.waits && !seen.hasWaited && `${name}: expected to be seen waiting for its image, was not`,
    expected.isDeleted !== seen.isGone &&
      `${name}: expected ${expected.isDeleted ? 'gone' : 'there'}, found the contrary`,
    !expected.isDeleted && phase !== 'Ready' && `${name}: expected to stay Ready, found ${phase} (${message})`,
    !expected.isDeleted && seen.ipAddress === '' && `${name}: expected an address, found none`,
    seen.warnings.length !== (warned ? 1 : 0) &&
      `${name}: expected ${warned ? 'one Warning, TemplateMismatch' : 'no Warning'}, found ${found}`,
    mismatches.length > 0 && unnamed.length > 0 && `${name}: expected TemplateMismatch to name ${unnamed.join(', ')}`,
  );
}

/** It stayed for as long as a machine held it, named those that did, and went after the last of them. */
function deletionFaults({ image, held, goneAtSeconds }: MachinesResult['deletion'], holders: readonly MachineResult[]) {
  const names = holders.map(({ name }) => `${machineNamespace}/${name}`);
  const wanted = names.map((_, index) => names.slice(index).join(' and '));
  const found = held.map(({ by }) => by.join(' and '));
  const last = holders.at(-1)?.deletedAtSeconds ?? null;
  return faultsIn(
    found.join() !== wanted.join() &&
      `${image}: expected DeletionHeld to name ${wanted.join(', then ')}, found ${found.join(', then ') || 'nobody'}`,
    goneAtSeconds === null && `${image}: expected to go with its last machine, is there`,
    goneAtSeconds !== null &&
      (last === null || goneAtSeconds < last) &&
      `${image}: expected to stay until its last machine was deleted, went before`,
  );
}
