/** Simulates a week of 200 labs and prints what it came to: npm run test:week -- [SEED] [--deaf] */
import { bookingsOf } from './bookings.ts';
import { judge } from './judge.ts';
import { concurrency, simulateWeek, startMs } from './simulate-week.ts';

const seed = Number(process.argv[2] ?? 1);
const week = bookingsOf(seed, startMs);
const beganMs = performance.now();
const lived = await simulateWeek(week, { seed, isDeaf: process.argv.includes('--deaf') });
const { violations, figures } = judge(week, lived, concurrency);
console.log(JSON.stringify({ seed, ...figures, steps: lived.steps }, undefined, 2));
console.log(`${Math.round((performance.now() - beganMs) / 1000)} s`);
for (const violation of violations) console.log(violation);
process.exitCode = violations.length > 0 ? 1 : 0;
