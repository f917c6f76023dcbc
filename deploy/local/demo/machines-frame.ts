import { machineColumns, machineRow, type ShownMachine } from '../../terminal/machine-table.ts';
import { type Look, lineOf, type Span, styled } from '../../terminal/paint.ts';
import { phaseSpan, type ShownPhase } from '../../terminal/phase-style.ts';
import { formatSeconds } from '../../terminal/quantities.ts';
import { tableLines } from '../../terminal/table.ts';

/** What the second act shows of itself while it runs. */
export interface MachinesView {
  elapsedMs: number;
  images: readonly {
    name: string;
    /** Undefined while there is none. */
    phase: ShownPhase | undefined;
    references: number | undefined;
    remark: string;
  }[];
  machines: readonly (ShownMachine & { remark: string })[];
}

/** The lines of the live display: the images that machines name, and a line for each machine. */
export function renderMachines(view: MachinesView, look: Look): string[] {
  return [
    lineOf([styled('bold', formatSeconds(view.elapsedMs)), `  ${counts(view)}`], look),
    '',
    ...tableLines(imageColumns, view.images.map(imageRow), look),
    '',
    ...tableLines(
      machineColumns,
      view.machines.map((machine) => machineRow(machine, machine.remark)),
      look,
    ),
  ];
}

const imageColumns = [
  { title: 'IMAGE' },
  { title: 'PHASE' },
  { title: 'REFS', align: 'right' },
  { title: '' },
] as const;

function counts({ machines }: MachinesView): string {
  const count = (...phases: ShownPhase[]) => machines.filter(({ phase }) => phases.includes(phase)).length;
  return [
    `${count('', 'Provisioning')} provisioning`,
    `${count('Ready')} ready`,
    `${count('Failed')} failed`,
    `${count('Terminating', 'Gone')} deleted`,
  ]
    .filter((words) => !words.startsWith('0 '))
    .join(', ');
}

const imageRow = ({ name, phase, references, remark }: MachinesView['images'][number]): Span[] => [
  name,
  phase === undefined ? styled('dim', 'not there') : phaseSpan(phase),
  references === undefined ? '' : String(references),
  styled('dim', remark),
];
