import { barOf } from '../../terminal/bar.ts';
import { type Look, lineOf, type Span, styled } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { formatBytes, formatSeconds } from '../../terminal/quantities.ts';
import { cell, tableLines } from '../../terminal/table.ts';

/** What the demo shows of itself while it runs. */
export interface DemoView {
  elapsedMs: number;
  /** One for each slot; undefined is free. */
  slots: readonly (SlotView | undefined)[];
  images: readonly ImageView[];
}

export interface SlotView {
  name: string;
  attempt: number;
  /** Of this attempt. */
  downloadedBytes: number;
  neededBytes: number;
}

export interface ImageView {
  name: string;
  phase: string;
  attempts: number;
  waitedMs: number;
  /** What there is to say of it beyond its phase. */
  remark: string;
}

/** The lines of the live display: a bar for each slot, the queue, and a line for each image. */
export function render(view: DemoView, look: Look): string[] {
  const nameWidth = Math.max(5, ...view.images.map(({ name }) => name.length));
  return [
    lineOf(headline(view), look),
    '',
    ...view.slots.map((slot, index) => lineOf(slotLine(slot, index, nameWidth, look.columns), look)),
    '',
    ...tableLines(columns, view.images.map(imageRow), look),
  ];
}

const columns = [
  { title: 'IMAGE' },
  { title: 'PHASE' },
  { title: 'ATTEMPTS', align: 'right' },
  { title: 'WAITED', align: 'right' },
  { title: '' },
] as const;

function headline({ elapsedMs, images }: DemoView): Span[] {
  const counts = groups
    .map(({ word, phases }) => ({ word, count: images.filter(({ phase }) => phases.includes(phase)).length }))
    .filter(({ count }) => count > 0)
    .map(({ word, count }) => `${count} ${word}`);
  return [styled('bold', formatSeconds(elapsedMs)), `  ${counts.join(', ')}`];
}

const groups: readonly { word: string; phases: readonly string[] }[] = [
  { word: 'queued', phases: ['', 'Queued'] },
  { word: 'syncing', phases: ['Syncing'] },
  { word: 'snapshotting', phases: ['Snapshotting'] },
  { word: 'retrying', phases: ['Retrying'] },
  { word: 'succeeded', phases: ['Succeeded'] },
  { word: 'failed', phases: ['Failed'] },
];

function slotLine(slot: SlotView | undefined, index: number, nameWidth: number, lineWidth: number): Span[] {
  const title = styled('dim', `slot ${index + 1}  `);
  if (!slot) return [title, styled('dim', 'free')];
  const { name, attempt, downloadedBytes, neededBytes } = slot;
  const share = neededBytes > 0 ? Math.min(1, downloadedBytes / neededBytes) : 0;
  const numbers =
    neededBytes > 0 ? ` ${String(Math.floor(share * 100)).padStart(3)}% of ${formatBytes(neededBytes)}` : '';
  const tail = `${numbers}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  const barWidth = Math.max(4, Math.min(40, lineWidth - 8 - nameWidth - 2 - ' 100% of 99.9 MB, attempt 9'.length));
  return [title, cell(name, nameWidth), '  ', styled('cyan', barOf(share, barWidth)), tail];
}

const imageRow = ({ name, phase, attempts, waitedMs, remark }: ImageView): Span[] => [
  name,
  phaseSpan(phase),
  attempts > 0 ? String(attempts) : '',
  formatSeconds(waitedMs),
  styled('dim', remark),
];
