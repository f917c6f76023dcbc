import type { FuzzCluster, Observation, Write } from './cluster.ts';
import { notGranted, type Own } from './grants.ts';
import { type Texts, yamlFaults } from './yaml-faults.ts';

/** What a run must not do, by the letter of the judge that found it. */
export interface Violation {
  judge: 'crash' | 'write' | 'block' | 'secret' | 'yaml';
  message: string;
}

/** What it is judged by. */
export interface Bench {
  own: Own;
  secrets: FuzzCluster['secrets'];
  /** All that authors wrote. */
  texts: Texts;
}

const longestBlockMs = 100;

/** A line of a stack, or the name of an error that JavaScript throws for a mistake in the code. */
const stack =
  /\n\s+at |\bat (async )?[\w.<>]+ \(|\b(Type|Range|Reference|Syntax|URI|Internal|Assertion|Zod)Error\b|\.ts:\d+:\d+/;

/** What functions log of an API server, OpenStack or rival that is in the way; anything else is a mistake. */
const expectedError = /^(\d{3} \w*: |(NoAnswer|Unreachable|OpenStackError): |Error: expected )/;

function crashes({ crashes: ended, logs, answers, writes }: Observation): string[] {
  const shown = writes
    .filter(({ isFunction }) => isFunction)
    .map(({ object }) => ({ object, text: messagesIn(object) }));
  return [
    ...ended.map((error) => `a process would have ended: ${error}`),
    ...answers
      .filter(({ status, body }) => status === 500 || stack.test(body))
      .map(({ name, status, body }) => `${name} answered ${status}: ${body}`),
    ...logs.filter((line) => stack.test(line) || isUnexpected(line)).map((line) => `log: ${line}`),
    ...shown
      .filter(({ text }) => stack.test(text))
      .map(({ object, text }) => `${object?.kind} ${object?.metadata.name}: ${text}`),
  ];
}

function isUnexpected(line: string): boolean {
  try {
    const { level, message = '' } = JSON.parse(line) as { level?: string; message?: string };
    return level === 'error' && !expectedError.test(message);
  } catch {
    return false;
  }
}

/** What a user reads of an object: its status, or the message of an Event. */
const messagesIn = (object: Write['object']) => {
  const { status, message } = (object ?? {}) as { status?: unknown; message?: unknown };
  return [...textsIn(status), ...textsIn(message)].join('\n');
};

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function leaks({ writes, logs }: Observation, { secrets }: Bench): string[] {
  const told = secrets.flatMap(({ namespace, value }) => {
    const forms = [value, Buffer.from(value).toString('base64')];
    const tells = (text: string) => forms.some((form) => text.includes(form));
    const places = writes.filter(
      (write) =>
        write.isFunction &&
        write.namespace !== namespace &&
        textsIn(write.object).some((text) => tells(text) || tells(Buffer.from(text, 'base64').toString())),
    );
    return [
      ...places.map(
        ({ by, resource, name, namespace: at }) =>
          `${by} wrote a Secret of ${namespace} into ${resource} ${at}/${name}`,
      ),
      ...logs.filter(tells).map(() => `a log line has a Secret of ${namespace}`),
    ];
  });
  return [...new Set(told)];
}

const judges: Readonly<Record<Violation['judge'], (seen: Observation, bench: Bench) => string[]>> = {
  crash: crashes,
  write: ({ writes }, { own }) =>
    writes.filter(({ isFunction }) => isFunction).flatMap((write) => notGranted(own, write) ?? []),
  block: ({ longestBlockMs: found, longestDecideMs }) =>
    found <= longestBlockMs
      ? []
      : [
          `functions worked for ${found.toFixed(0)} ms of CPU without a pause; decisions: ${JSON.stringify(longestDecideMs)}`,
        ],
  secret: leaks,
  yaml: ({ writes }, { texts }) => yamlFaults(writes, texts),
};

export const judged = (seen: Observation, bench: Bench): Violation[] =>
  Object.entries(judges).flatMap(([judge, judgeOf]) =>
    [...new Set(judgeOf(seen, bench))].map((message) => ({ judge: judge as Violation['judge'], message })),
  );
