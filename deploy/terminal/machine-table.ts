import { type Span, styled } from './paint.ts';
import { phaseSpan, type ShownPhase } from './phase-style.ts';

/** A machine as the live displays show it. */
interface ShownMachine {
  name: string;
  phase: ShownPhase;
  image: string;
  ipAddress: string;
}

/** The columns of a table of machines; the last one has no title. */
export const machineColumns = [
  { title: 'MACHINE' },
  { title: 'PHASE' },
  { title: 'IMAGE' },
  { title: 'IP' },
  { title: '' },
] as const;

/** A machine's line under those columns, with what there is to say of it. */
export const machineRow = ({ name, phase, image, ipAddress }: ShownMachine, remark: string): Span[] => [
  name,
  phaseSpan(phase),
  image,
  ipAddress,
  styled('dim', remark),
];
