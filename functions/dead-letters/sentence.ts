import type { DeadLetter } from '../../shared/function.ts';
import { nameOf } from '../../shared/kinds/resource.ts';

/** Dead letters that one sentence describes. */
export interface Group {
  /** The function that did not accept them, or `unknown`. */
  failed: string;
  tells: 'object' | 'timer' | 'message';
  code: string | undefined;
  letters: readonly DeadLetter[];
}

/** The message for operators: how many, the last of them, and the consequence. */
export function sentenceOf({ failed, tells, code, letters }: Group, count: number): string {
  const last = letters.at(-1);
  if (!last) return '';
  const unknown = last.failed ? `${last.failed}, whose Trigger does not exist,` : 'an unnamed subscriber';
  const who = failed === 'unknown' ? unknown : failed;
  const answer = code ? `answered ${code} to` : 'gave no answer (timeout or no connection) to';
  const often = count === 1 ? '' : `${count} times, last: `;
  return `${often}${who} ${answer} ${whatOf(last, tells)} (event ${last.id}). ${comesOf(failed, tells)}`.slice(0, 1024);
}

function whatOf({ type, source, subject, about }: DeadLetter, tells: Group['tells']): string {
  if (tells === 'timer') return `the timer ${source.split('/').pop()}`;
  if (tells === 'object' && about) {
    return `a change of ${nameOf(about, about)}`;
  }
  return `${type} from ${source}${subject ? ` about ${subject}` : ''}`;
}

/** Our functions find a missed change at a sweep or audit. Only its sender can repeat a message. */
function comesOf(failed: string, tells: Group['tells']): string {
  if (failed === 'unknown') return 'No other subscriber takes it.';
  if (tells === 'timer') return `Its next tick makes up for it. See the log of ${failed}.`;
  if (tells === 'object') return `The next sweep or audit looks at it again. See the log of ${failed}.`;
  return `It is lost unless its sender posts it again. See the log of ${failed} for what was wrong.`;
}
