import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Case, Step } from './case.ts';
import { send, type World } from './connection.ts';
import { Mask } from './mask.ts';

type Saved = Record<string, string>;

const patience = { tries: 300, everyMs: 100 };
const json = 'application/json';

/**
 * Runs a case's steps in order in a namespace of its own, and gives each masked answer as recordings keep it. A step that
 * is known to differ here is not held to what the case expects of it, so that its answer is compared with its recording.
 */
export async function runCase(
  world: World,
  { steps }: Case,
  differs: (step: number) => boolean = () => false,
): Promise<unknown[]> {
  const ns = `contract-${crypto.randomUUID().slice(0, 8)}`;
  const admin = (method: string, path: string, body?: unknown) =>
    send(world.connection, {
      method,
      path,
      headers: { 'content-type': json },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  await admin('POST', '/api/v1/namespaces', { metadata: { name: ns } });
  const saved: Saved = { ns };
  const mask = new Mask(ns);
  const answers: unknown[] = [];
  try {
    for (const [index, step] of steps.entries()) {
      const { status, body, warnings } = await runStep(world, step, saved, differs(index));
      const shown = mask.of(step.pick ? step.pick(body) : body);
      const heard = warnings.map((warning) => mask.text(warning));
      answers.push({ request: step.request, status, ...(heard.length > 0 && { warnings: heard }), body: shown });
    }
  } finally {
    await admin('DELETE', `/api/v1/namespaces/${ns}`);
  }
  return answers;
}

async function runStep(world: World, step: Step, saved: Saved, differs: boolean): Promise<Answer> {
  if (step.afterCompaction) await world.compact();
  for (let tries = step.eventually ? patience.tries : 1; ; tries--) {
    const answer = await ask(world, step, saved);
    try {
      check(step, answer, saved);
    } catch (error) {
      if (tries > 1) {
        await sleep(patience.everyMs);
        continue;
      }
      if (!differs) throw error;
    }
    for (const [name, path] of Object.entries(step.save ?? {})) saved[name] = String(at(answer.body, path));
    return answer;
  }
}

interface Answer {
  status: number;
  body: unknown;
  warnings: string[];
}

async function ask({ connection }: World, step: Step, saved: Saved): Promise<Answer> {
  const [method = 'GET', path = ''] = filled(step.request, saved).split(/ (.*)/);
  const { status, text, warning } = await send(connection, {
    method,
    path,
    headers: { 'content-type': step.type ?? json, accept: step.accept ?? json, ...impersonation(step, saved) },
    ...(step.body !== undefined && { body: filled(JSON.stringify(step.body), saved) }),
    ...(step.token && { token: filled(step.token, saved) }),
  });
  return {
    status,
    body: step.events
      ? text
          .trim()
          .split('\n')
          .filter(Boolean)
          .map(parsed)
          .filter((event) => !isPlainBookmark(event))
      : parsed(text),
    warnings: [...warning.matchAll(/299 - ("(?:\\.|[^"\\])*")/g)].map(
      ([, quoted = '""']) => JSON.parse(quoted) as string,
    ),
  };
}

/** A watch with bookmarks receives its position at any moment. */
function isPlainBookmark(event: unknown): boolean {
  const { type, object } = event as { type?: string; object?: { metadata?: { annotations?: unknown } } };
  return type === 'BOOKMARK' && !object?.metadata?.annotations;
}

const impersonation = ({ as }: Step, saved: Saved): Record<string, string> =>
  as
    ? {
        'impersonate-user': filled(as.user, saved),
        ...(as.groups && { 'impersonate-group': filled(as.groups.join(','), saved) }),
      }
    : {};

function check(step: Step, { status, body, warnings }: Answer, saved: Saved) {
  const about = `${step.request} answered ${JSON.stringify(body)?.slice(0, 2000)}`;
  expect(status, about).toBe(step.status);
  if (step.answer !== undefined) expect(body, about).toMatchObject(expected(step.answer, saved) as object);
  if (step.warnings) expect(warnings, about).toEqual(step.warnings.map((warning) => filled(warning, saved)));
  for (const path of step.without ?? []) expect(at(body, path), `${path} in ${about}`).toBeUndefined();
  if (step.events) {
    const lines = body as unknown[];
    expect(lines, about).toHaveLength(step.events.length);
    for (const [index, event] of step.events.entries()) {
      expect(lines[index], about).toMatchObject(expected(event, saved) as object);
    }
  }
}

const filled = (text: string, saved: Saved) =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => saved[name] ?? whole);

function expected(value: unknown, saved: Saved): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (typeof value === 'string') return filled(value, saved);
  if (Array.isArray(value)) return value.map((element) => expected(element, saved));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, expected(field, saved)]));
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
