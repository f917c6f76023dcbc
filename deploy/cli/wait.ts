import { formatDuration, parseDurationMs } from '../../shared/kubernetes/duration.ts';
import { oneLine } from '../../shared/sentence.ts';
import { UsageError } from '../terminal/arguments.ts';
import { barOf } from '../terminal/bar.ts';
import { type Body, type Call, exit, NotFound, type Outcome } from './command.ts';
import { namespaceOptions } from './help.ts';
import { waitFor } from './install/wait.ts';
import { completeNamed } from './names.ts';
import { type Progress, progressOf } from './progress.ts';
import { findTarget, formatName, formatTyped, kindOf, readNamed, resourceOfKind, type Target } from './target.ts';

const defaultTimeout = '1h';

/** Waits until an object is Ready or Failed. */
export const wait: Body = {
  words: 'KIND/NAME',
  options: {
    ...namespaceOptions,
    timeout: { type: 'string', value: 'TIME', about: `the longest wait, such as 90s (${defaultTimeout})` },
  },
  details: [
    'Redraws one line on a terminal, prints a line for each change in a pipe. It ignores a status that belongs to an older',
    'spec or request.',
    'Exit codes: 0 Ready · 1 Failed · 4 not found, or deleted meanwhile · 124 timed out.',
  ],
  examples: ['wait image/ubuntu', 'wait workspace demo-workspace-1 --timeout 30m', 'wait default/ubuntu-1'],
  complete: completeNamed,
  run,
};

async function run(call: Call): Promise<Outcome> {
  const { cluster, words, namespace, text, stop } = call;
  const timeoutMs = timeoutOf(text('timeout'));
  const reached = await cluster();
  const { kube } = reached;
  const target = await findTarget(reached, readNamed(words, namespace));
  const { name, namespace: where } = target.metadata;
  const watched = { kube, timeoutMs };
  const resource = resourceOfKind(kindOf(target));
  const show = shower(call);
  const { isLate, object } = await waitFor<Target>(
    watched,
    resource,
    { name, ...(where ? { namespace: where } : {}) },
    (found) => {
      const progress = found && progressOf(found);
      if (found && progress) show(found, progress);
      return !progress || progress.end !== undefined;
    },
    stop,
  );
  stop.throwIfAborted();
  if (!object) throw new NotFound(`${formatName(target)} was deleted meanwhile`);
  return ended(object, isLate, timeoutMs);
}

/** The last lines: the result, and the next command. */
export function ended(target: Target, isLate: boolean, timeoutMs: number): Outcome {
  const progress = progressOf(target);
  const { phase, message, end } = progress;
  const json = {
    kind: target.kind,
    name: target.metadata.name,
    namespace: target.metadata.namespace ?? null,
    phase,
    message,
  };
  const why = `ot-functions why ${formatTyped(target)} explains it.`;
  if (isLate && !end) {
    const lines = [`Not Ready within ${formatDuration(timeoutMs)}. ${progressLine(target, progress)}`, why];
    return { lines, json: { ...json, result: 'late' }, code: exit.late };
  }
  if (end === 'failed')
    return { lines: [progressLine(target, progress), why], json: { ...json, result: 'failed' }, code: exit.failed };
  return { lines: [progressLine(target, progress)], json: { ...json, result: 'ready' }, code: exit.done };
}

function timeoutOf(text = defaultTimeout): number {
  const timeoutMs = parseDurationMs(text);
  if (timeoutMs !== undefined) return timeoutMs;
  throw new UsageError(`--timeout: expected a time such as 90s or 30m, found ${JSON.stringify(text)}`);
}

/** Redraws one line on a terminal; in a pipe prints each line once, and leaves the last one to the end. */
function shower({ redraw, say }: Call) {
  let last = '';
  return (target: Target, progress: Progress) => {
    if (redraw) return redraw(progressBar(target, progress));
    const line = progressLine(target, progress);
    if (line !== last && progress.end === undefined) say(line);
    last = line;
  };
}

/** A line of a log: the same line is not printed twice. */
const progressLine = (target: Target, { phase, message }: Progress) =>
  `${formatName(target)}: ${phase || 'New'}${message ? `: ${oneLine(message)}` : ''}`;

/** The line on a terminal, with a bar. */
export const progressBar = (target: Target, progress: Progress) =>
  progress.share === undefined
    ? progressLine(target, progress)
    : `${barOf(progress.share, 20)} ${Math.round(progress.share * 100)}%  ${progressLine(target, progress)}`;
