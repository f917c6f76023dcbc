import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Case, Step } from './case.ts';

type Saved = Record<string, string>;

const patience = { tries: 300, everyMs: 100 };

/** Runs a case's steps in order against the server at `url`, in a namespace of its own. */
export async function runCase(url: string, { steps }: Case) {
  const ns = `contract-${crypto.randomUUID().slice(0, 8)}`;
  await fetch(`${url}/api/v1/namespaces`, {
    method: 'POST',
    body: JSON.stringify({ metadata: { name: ns } }),
    headers,
  });
  const saved: Saved = { ns };
  try {
    for (const step of steps) await runStep(url, step, saved);
  } finally {
    await fetch(`${url}/api/v1/namespaces/${ns}`, { method: 'DELETE' });
  }
}

const headers = { 'content-type': 'application/json' };

async function runStep(url: string, step: Step, saved: Saved) {
  for (let tries = step.eventually ? patience.tries : 1; tries > 0; tries--) {
    const answer = await send(url, step, saved);
    try {
      check(step, answer, saved);
      for (const [name, path] of Object.entries(step.save ?? {})) saved[name] = String(at(answer.body, path));
      return;
    } catch (error) {
      if (tries === 1) throw error;
      await sleep(patience.everyMs);
    }
  }
}

interface Answer {
  status: number;
  body: unknown;
  warnings: string[];
}

async function send(url: string, step: Step, saved: Saved): Promise<Answer> {
  const [method = 'GET', path = ''] = filled(step.request, saved).split(/ (.*)/);
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': step.type ?? headers['content-type'], accept: step.accept ?? 'application/json' },
    ...(step.body !== undefined && { body: filled(JSON.stringify(step.body), saved) }),
  });
  const text = await response.text();
  const warning = response.headers.get('warning') ?? '';
  return {
    status: response.status,
    body: step.events ? text.trim().split('\n').filter(Boolean).map(parsed) : parsed(text),
    warnings: [...warning.matchAll(/299 - ("(?:\\.|[^"\\])*")/g)].map(
      ([, quoted = '""']) => JSON.parse(quoted) as string,
    ),
  };
}

function check(step: Step, { status, body, warnings }: Answer, saved: Saved) {
  const about = `${step.request} answered ${JSON.stringify(body)?.slice(0, 2000)}`;
  expect(status, about).toBe(step.status);
  if (step.answer !== undefined) expect(body, about).toMatchObject(expected(step.answer, saved) as object);
  if (step.warnings) expect(warnings, about).toEqual(step.warnings);
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
