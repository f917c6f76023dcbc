import type { Action } from '../actions.ts';
import type { Reason } from '../reasons/reason.ts';
import { oneLine } from '../sentence.ts';

/** A Kubernetes Event about an object. */
export const recordEvent = (
  about: (Action & { do: 'recordEvent' })['about'],
  warning: boolean,
  reason: Reason,
  message: string,
  once: string,
): Action => ({
  do: 'recordEvent',
  about,
  type: warning ? 'Warning' : 'Normal',
  reason,
  message: redactMessage(message),
  once,
});

/**
 * The message as it may go into status, conditions, Events and domain events: on one line, its URLs without signatures and session tokens,
 * and not over-long.
 */
export function redactMessage(message: string): string {
  const clean = oneLine(message).replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s"'?#;]*)(?:[?#]|;(?=[^\s"']))[^\s"']*/gi, '$1');
  return clean.length > longestMessage ? `${clean.slice(0, longestMessage - 1)}…` : clean;
}

/** The schema takes 4096 characters; the condition's message may have a sentence before it. */
const longestMessage = 4000;
