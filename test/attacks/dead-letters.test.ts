import { expect, test } from 'vitest';
import declaration from '../../functions/dead-letters/index.ts';
import type { DeadLetter } from '../../shared/function.ts';
import { serve } from '../../shared/runtime/http.ts';
import type { Ports } from '../../shared/runtime/reconcile.ts';

/** A sender that reaches the function could post letters faster than they are reconciled, and fill its memory until it ends. */
test('a flood of dead letters keeps a bounded number of them waiting, and counts all', async () => {
  const taken: number[] = [];
  let overflow = 0;
  const gate = Promise.withResolvers<void>();
  const observe: typeof declaration.observe = async (_, { messages }) => {
    taken.push(messages.map(({ data }) => data as DeadLetter).length);
    await gate.promise;
    return [];
  };
  const measure = (metric: string, value: number) => {
    if (metric === 'ot.dead.letters') overflow += value;
  };
  const telemetry = { measure, span: (_: string, __: unknown, ___: unknown, run: () => unknown) => run() };
  const { app, drain } = serve({ ...declaration, observe }, {
    kube: {},
    telemetry,
    now: () => 0,
    pause: async () => undefined,
    random: () => 0,
    publisher: { publish: () => undefined, republish: () => undefined },
  } as unknown as Ports);
  const post = (id: number) =>
    app.request('/preload', {
      method: 'POST',
      headers: { 'ce-id': String(id), 'ce-type': 'any', 'ce-source': '/mallory' },
    });
  const sent = 5000;
  for (let id = 0; id < sent; id++) expect((await post(id)).status).toBe(202);
  gate.resolve();
  await drain();
  expect(Math.max(...taken)).toBeLessThanOrEqual(2000);
  expect(taken.reduce((sum, count) => sum + count, 0) + overflow).toBe(sent);
});
