import { oneLine } from '../../shared/sentence.ts';
import { barOf } from '../terminal/bar.ts';
import type { Progress } from './progress.ts';
import { formatName, type Target } from './target.ts';

/** A line of a log: the same line is not printed twice. */
export const progressLine = (target: Target, { phase, message }: Progress) =>
  `${formatName(target)}: ${phase || 'New'}${message ? `: ${oneLine(message)}` : ''}`;

/** The line on a terminal, with a bar. */
export const progressBar = (target: Target, progress: Progress) =>
  progress.share === undefined
    ? progressLine(target, progress)
    : `${barOf(progress.share, 20)} ${Math.round(progress.share * 100)}%  ${progressLine(target, progress)}`;
