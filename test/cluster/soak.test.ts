import { expect, test } from 'vitest';
import { report, summary } from '../proofs/soak/report.ts';
import { soak } from '../proofs/soak/soak.ts';

/** What `npm run soak` does, for its number of minutes. */
const minutes = 2;

test(`for ${minutes} minutes users work while everything they work with is killed, and no invariant is broken`, async () => {
  const seed = Date.now() % 1_000_000;
  const { signal } = new AbortController();
  const result = await soak({ minutes, seed, say: (line) => console.log(`soak: ${line}`), signal });
  console.log(report(result, { columns: Number.POSITIVE_INFINITY, colour: false }).join('\n'));
  console.log(`result: soak: ${summary(result)}`);
  expect(result).toMatchObject({ ok: true, notAtRest: [], violations: [] });
}, 900_000);
