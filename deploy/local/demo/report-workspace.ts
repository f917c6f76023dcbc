import type { Look, Span } from '../../terminal/paint.ts';
import { tableLines } from '../../terminal/table.ts';
import { wrapped } from '../../terminal/wrapped.ts';
import type { PartResult, WorkspaceResult } from './result.ts';

/** What the report says of the third act: a line for each part, then what was done to the lab in a sentence each. */
export function workspaceReport(result: WorkspaceResult, look: Look): string[] {
  const { name, readyAfterSeconds, healing, deletion } = result;
  const sentences = [
    readyAfterSeconds !== null && `${name} was Ready ${saidSeconds(readyAfterSeconds)} after it was applied.`,
    healing.backAfterSeconds !== null &&
      `${healing.kind} ${healing.name} was deleted, and back ${saidSeconds(healing.backAfterSeconds)} later.`,
    deletion.goneAfterSeconds !== null &&
      `${name} was deleted, and gone with all that was made for it ${saidSeconds(deletion.goneAfterSeconds)} later.`,
  ].filter((sentence) => typeof sentence === 'string');
  return [
    ...tableLines(titles, result.parts.map(row), look),
    ...(sentences.length > 0 ? ['', ...wrapped(sentences.join(' '), look.columns)] : []),
  ];
}

const titles = [{ title: 'PART OF THE LAB' }, { title: 'NAME' }, { title: 'READY AFTER', align: 'right' }] as const;

const row = ({ kind, name, readyAfterSeconds, phase }: PartResult): Span[] => [
  kind,
  name,
  readyAfterSeconds === null ? phase || '-' : saidSeconds(readyAfterSeconds),
];

const saidSeconds = (seconds: number) => `${seconds.toFixed(1)}s`;
