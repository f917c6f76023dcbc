import { type Look, lineOf, type Span, styled } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { formatBytes } from '../../terminal/quantities.ts';
import { tableLines } from '../../terminal/table.ts';
import { wrapped } from '../../terminal/wrapped.ts';
import { machinesReport } from './report-machines.ts';
import { workspaceReport } from './report-workspace.ts';
import type { DemoResult, ImageResult, MachinesResult, WorkspaceResult } from './result.ts';

/** The lines that the demo ends with: what became of each image, the totals, what was not as expected, what to try next. */
export function report(result: DemoResult, look: Look): string[] {
  const { columns } = look;
  const { machines, workspace } = result;
  const wide = { ...look, columns: Number.POSITIVE_INFINITY };
  return [
    '',
    ...tableLines(titles, result.images.map(row), look),
    ...result.images
      .filter(({ phase }) => phase === 'Failed')
      .flatMap(({ name, reason, message }) => ['', ...wrapped(`${name} failed as ${reason}: ${message}`, columns)]),
    ...(machines ? ['', ...machinesReport(machines, look)] : []),
    ...(workspace ? ['', ...workspaceReport(workspace, look)] : []),
    '',
    ...wrapped(totals(result), columns),
    `Took ${result.seconds.toFixed(1)}s of ${promisedSeconds}s.`,
    ...result.faults.map((fault) => lineOf([styled('red', '- '), fault], wide)),
    ...(result.ok
      ? [lineOf(['Try next: ', styled('bold', 'npm start'), ' (the same cluster, for kubectl)'], look)]
      : []),
  ];
}

const titles = [
  { title: 'IMAGE' },
  { title: 'PHASE' },
  { title: 'ATTEMPTS', align: 'right' },
  { title: 'WAITED', align: 'right' },
  { title: 'DOWNLOADED', align: 'right' },
  { title: 'NEEDED', align: 'right' },
  { title: 'RATIO', align: 'right' },
] as const;

const row = (image: ImageResult): Span[] => [
  image.name,
  phaseSpan(image.phase),
  String(image.attempts),
  `${image.waitedSeconds.toFixed(1)}s`,
  formatBytes(image.bytesDownloaded),
  image.bytesNeeded > 0 ? formatBytes(image.bytesNeeded) : '-',
  image.ratio === null ? '-' : image.ratio.toFixed(2),
];

/** How long all of it may take on a computer that has nothing else to do: what the README promises. */
const promisedSeconds = 30;

function totals({ ok, images, machines, workspace, most, bytesDownloaded, bytesNeeded }: DemoResult): string {
  const count = (phase: string) => images.filter((image) => image.phase === phase).length;
  const outcome = ok ? 'All as expected' : 'Not as expected';
  return `${outcome}: ${[
    `${count('Succeeded')} succeeded`,
    `${count('Failed')} failed`,
    `${most.slots} at once`,
    `${formatBytes(bytesDownloaded)} for ${formatBytes(bytesNeeded)}`,
  ].join(
    ', ',
  )}${machines ? `; ${readyOf(machines)} machines Ready` : ''}${workspace ? `; ${partsOf(workspace)}` : ''}.`;
}

const partsOf = ({ parts }: WorkspaceResult) =>
  `a lab of ${parts.filter(({ readyAfterSeconds }) => readyAfterSeconds !== null).length} parts Ready`;

const readyOf = ({ machines }: MachinesResult) =>
  machines.filter(({ readyAfterSeconds }) => readyAfterSeconds !== null).length;
