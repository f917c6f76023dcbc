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
  // A subscriber that is not ours says whatever it likes.
  const wrong = failed !== 'unknown' && last.faults ? `: ${shortened(last.faults, 400)}` : '';
  const what = `${whatOf(last, tells)} (event ${shortened(last.id)})${wrong}`;
  return `${often}${who} ${answer} ${what}. ${comesOf(failed, tells, wrong !== '')}`.slice(0, 1024);
}

function whatOf({ type, source, subject, about }: DeadLetter, tells: Group['tells']): string {
  if (tells === 'timer') return `the timer ${source.split('/').pop()}`;
  if (tells === 'object' && about) {
    return `a change of ${nameOf(about, about)}`;
  }
  return `${shortened(type)} from ${shortened(source)}${subject ? ` about ${shortened(subject)}` : ''}`;
}

/** Our functions find a missed change at a sweep or audit. Only its sender can repeat a message. */
function comesOf(failed: string, tells: Group['tells'], isToldWhy: boolean): string {
  if (failed === 'unknown') return 'No other subscriber takes it.';
  if (tells === 'timer') return `Its next tick makes up for it. See the log of ${failed}.`;
  if (tells === 'object') return `The next sweep or audit looks at it again. See the log of ${failed}.`;
  if (isToldWhy) return 'It is lost unless its sender posts it again, corrected.';
  return `It is lost unless its sender posts it again. See the log of ${failed} for what was wrong.`;
}

/** So that the sentence has room for its end. */
const shortened = (text: string, most = 100) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
