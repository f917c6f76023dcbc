import { format } from 'node:util';
import { vi } from 'vitest';
import type { Action } from '../../../shared/actions.ts';
import { keptSpans } from './spans.ts';

const voices = ['debug', 'error', 'info', 'log', 'warn'] as const;

/** A process that ends logs it. */
export async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { error } = console;
  console.error = () => undefined;
  try {
    return await run();
  } finally {
    console.error = error;
  }
}

/** All that comes out while `run` does: the actions it hands back, what it logs, and its spans with all their attributes. */
export async function heardWhile(run: () => Promise<readonly Action[]>): Promise<string> {
  const { spans, shutdown } = await keptSpans();
  const logged: string[] = [];
  const spies = voices.map((voice) =>
    vi.spyOn(console, voice).mockImplementation((...words) => void logged.push(format(...words))),
  );
  try {
    const actions = await run();
    const told = spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    return [JSON.stringify(actions), ...logged, JSON.stringify(told)].join('\n');
  } finally {
    for (const spy of spies) spy.mockRestore();
    await shutdown();
  }
}
