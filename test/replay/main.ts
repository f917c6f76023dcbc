import { readFileSync } from 'node:fs';
import { expectedOf, replay } from './replay.ts';
import { scenarioNames } from './scenarios.ts';

/** What of an attempt is kept for comparison with later functions. */
interface Kept {
  end: string;
  passes: number;
  others: Readonly<Record<string, number>>;
  /** The last of its messages that the row asks for, else the last of all. */
  says: string;
}

const before: Readonly<Record<string, readonly Kept[]>> = JSON.parse(
  readFileSync(new URL('../fixtures/real-cdi/decided-by-5366f2b.json', import.meta.url), 'utf8'),
);

const now: Record<string, Kept[]> = {};
for (const name of scenarioNames()) {
  const attempts = await replay(name);
  const { says } = expectedOf(name);
  now[name] = attempts.map(({ end, passes, others, said, message }) => {
    const asked = says && [...said].filter((one) => says.test(one)).at(-1);
    return { end, passes, others: Object.fromEntries(others), says: asked || message };
  });
}

if (process.argv.includes('--json')) console.log(JSON.stringify(now, undefined, 1));
else printTable();

function printTable() {
  line('scenario, attempt', 'expected', '5366f2b', 'decided');
  for (const [name, attempts] of Object.entries(now)) {
    const { ends, corrected, says } = expectedOf(name);
    const old = before[name] ?? [];
    for (let index = 0; index < Math.max(ends.length, old.length, attempts.length); index++) {
      line(index === 0 ? name : `  attempt ${index + 1}`, ends[index], told(old[index]), told(attempts[index]));
    }
    for (const { others } of attempts) for (const other of Object.keys(others)) console.log(`  also ${other}`);
    const isSaid = (kept: readonly Kept[]) => !says || kept.some((one) => says.test(one.says));
    const [first, then] = [attempts[0], old[0]];
    if (first && then && first.end === then.end && !isSaid(old)) {
      console.log(`  5366f2b says: ${cut(then.says)}\n  now says: ${cut(first.says)}`);
    }
    if (corrected) console.log(`  corrected: ${corrected}`);
  }
  const all = Object.values(now).flat();
  const isOther = ({ others }: Kept) => Object.keys(others).length > 0;
  const wrong = Object.entries(now).filter(
    ([name, attempts]) =>
      attempts.map(({ end }) => end).join() !== expectedOf(name).ends.join() || attempts.some(isOther),
  );
  const passes = all.reduce((sum, attempt) => sum + attempt.passes, 0);
  console.log('*: in other passes of the same attempt something else is decided');
  console.log(`result: ${Object.keys(now).length} scenarios, ${passes} passes, ${wrong.length} not as expected`);
}

function cut(message: string) {
  return `${message.replace(/\s+/g, ' ').slice(0, 100)}…`;
}

function told(kept: Kept | undefined) {
  return kept ? `${kept.end}${Object.keys(kept.others).length > 0 ? '*' : ''}` : '';
}

function line(name: string, ...cells: (string | undefined)[]) {
  const [expected = '', old = '', decided = ''] = cells;
  console.log(`${name.padEnd(38)}${expected.padEnd(27)} ${old.padEnd(28)} ${decided}`.trimEnd());
}
