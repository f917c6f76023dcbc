import type { Component } from '../../../shared/kinds/pelotech/workspace.ts';
import { barOf } from '../../terminal/bar.ts';
import { type Look, lineOf, type Span, styled } from '../../terminal/paint.ts';
import { phaseSpan, type ShownPhase } from '../../terminal/phase-style.ts';
import { formatSeconds } from '../../terminal/quantities.ts';
import { tableLines } from '../../terminal/table.ts';

/** What the third act shows of itself while it runs. */
export interface WorkspaceView {
  elapsedMs: number;
  name: string;
  phase: ShownPhase;
  /** "5/7", as the workspace itself counts. */
  ready: string;
  remark: string;
  parts: readonly Component[];
}

/** The lines of the live display: how much of the workspace is ready, and a line for each of its parts. */
export function renderWorkspace({ elapsedMs, name, phase, ready, remark, parts }: WorkspaceView, look: Look): string[] {
  const [done = 0, all = 0] = ready.split('/').map(Number);
  return [
    lineOf(
      [
        styled('bold', formatSeconds(elapsedMs)),
        `  ${name}  `,
        phaseSpan(phase),
        ...(all > 0 ? ['  ', styled('green', barOf(done / all, barWidth)), ` ${ready}`] : []),
      ],
      look,
    ),
    lineOf([styled('dim', remark)], look),
    '',
    ...tableLines(columns, parts.map(row), look),
  ];
}

const barWidth = 20;

const columns = [{ title: 'PART' }, { title: 'NAME' }, { title: 'PHASE' }, { title: '' }] as const;

const row = ({ kind, name, phase, message }: Component): Span[] => [
  kind,
  name,
  phaseSpan(phase),
  styled('dim', message),
];
