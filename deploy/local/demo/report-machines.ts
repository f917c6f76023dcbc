import type { Look, Span } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { tableLines } from '../../terminal/table.ts';
import { wrapped } from '../../terminal/wrapped.ts';
import type { DeletionResult, MachineResult, MachinesResult } from './result.ts';

/** What the report says of the second act: a line for each machine, then what was special in a sentence each. */
export function machinesReport({ machines, made, deletion }: MachinesResult, look: Look): string[] {
  const { columns } = look;
  const sentences = [
    ...made.map(({ name, requestedBy, times }) => madeSentence(name, requestedBy, times, machines)),
    ...machines.flatMap(({ name, warnings }) =>
      warnings.map(({ reason, message }) => `${name} was told ${reason}: ${message}`),
    ),
    ...deletionSentence(deletion),
  ];
  return [
    ...tableLines(titles, machines.map(row), look),
    ...sentences.flatMap((said) => ['', ...wrapped(said, columns)]),
  ];
}

const titles = [
  { title: 'MACHINE' },
  { title: 'PHASE' },
  { title: 'READY AFTER', align: 'right' },
  { title: 'IMAGE' },
  { title: 'IP' },
] as const;

const row = (machine: MachineResult): Span[] => [
  machine.name,
  phaseSpan(machine.isGone ? 'Gone' : machine.phase),
  machine.readyAfterSeconds === null ? '-' : `${machine.readyAfterSeconds.toFixed(1)}s`,
  machine.image,
  machine.ipAddress,
];

function madeSentence(name: string, requestedBy: string, times: number, machines: readonly MachineResult[]): string {
  const waiting = machines.filter(({ image, hasWaited }) => image === name && hasWaited).map((machine) => machine.name);
  const often = times === 1 ? 'once' : `${times} times`;
  return `${name} was not there when ${waiting.join(' and ')} asked for it: made ${often}, for ${requestedBy}.`;
}

function deletionSentence({ image, askedAtSeconds, held, goneAtSeconds }: DeletionResult): string[] {
  const [first] = held;
  if (askedAtSeconds === null || !first) return [];
  const ending =
    goneAtSeconds === null
      ? 'It is still there.'
      : `It went ${(goneAtSeconds - askedAtSeconds).toFixed(1)}s later, when they had gone.`;
  return [`${image} was deleted while in use, and held: ${first.message} ${ending}`];
}
