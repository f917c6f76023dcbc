import { readFileSync } from 'node:fs';
import { VMDiskImage, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Followed } from './follow.ts';
import { expectedOf, replay } from './replay.ts';
import { readScenario, scenarioNames } from './scenarios.ts';

/** The part of a result that is kept for comparison with later functions. */
interface Kept {
  end: string;
  passes: number;
  others: Readonly<Record<string, number>>;
}

const before: Readonly<Record<string, readonly Kept[]>> = JSON.parse(
  readFileSync(new URL('../fixtures/real-cdi/decided-by-5366f2b.json', import.meta.url), 'utf8'),
);

const now: Record<string, Kept[]> = {};
const told = new Map<string, readonly string[]>();
for (const name of scenarioNames()) {
  const attempts = await replay(name);
  now[name] = attempts.map(({ end, passes, others }) => ({ end, passes, others: Object.fromEntries(others) }));
  told.set(name, messagesOf(name, attempts));
}

if (process.argv.includes('--json')) console.log(JSON.stringify(now, undefined, 1));
else printTable();

function printTable() {
  line('scenario, attempt', 'expected', '5366f2b', 'decided');
  for (const [name, attempts] of Object.entries(now)) {
    const { ends, corrected } = expectedOf(name);
    const old = before[name] ?? [];
    for (let index = 0; index < Math.max(ends.length, old.length, attempts.length); index++) {
      line(index === 0 ? name : `  attempt ${index + 1}`, ends[index], cell(old[index]), cell(attempts[index]));
    }
    for (const { others } of attempts) for (const other of Object.keys(others)) console.log(`  also ${other}`);
    for (const message of told.get(name) ?? []) console.log(`  ${message}`);
    if (corrected) console.log(`  corrected: ${corrected}`);
  }
  const all = Object.values(now).flat();
  const isOther = ({ others }: Kept) => Object.keys(others).length > 0;
  const wrong = Object.entries(now).filter(
    ([name, attempts]) =>
      attempts.map(({ end }) => end).join() !== expectedOf(name).ends.join() || attempts.some(isOther),
  );
  const passes = all.reduce((sum, attempt) => sum + attempt.passes, 0);
  console.log('*: other passes of the same attempt decide something else');
  console.log(`result: ${Object.keys(now).length} scenarios, ${passes} passes, ${wrong.length} not as expected`);
}

/** The message that the row expects, if the functions in the recording did not write it: their message and the present one. */
function messagesOf(name: string, attempts: readonly Followed[]): string[] {
  const { says } = expectedOf(name);
  const images = readScenario(name).filter(({ object }) => object.kind === VMDiskImage.kind);
  const recorded = images.map(({ object }) => (object.status as VMDiskImageStatus | undefined)?.message ?? '');
  if (!says || recorded.length === 0 || recorded.some((message) => says.test(message))) return [];
  const ours = attempts.flatMap(({ said }) => [...said]).find((message) => says.test(message)) ?? '';
  return [`recorded: ${cut(recorded.at(-1) ?? '')}`, `now:      ${cut(ours)}`];
}

function cut(message: string) {
  return `${message.replace(/\s+/g, ' ').slice(0, 100)}…`;
}

function cell(kept: Kept | undefined) {
  return kept ? `${kept.end}${Object.keys(kept.others).length > 0 ? '*' : ''}` : '';
}

function line(name: string, ...cells: (string | undefined)[]) {
  const [expected = '', old = '', decided = ''] = cells;
  console.log(`${name.slice(0, 35).padEnd(36)}${expected.padEnd(27)} ${old.padEnd(28)} ${decided}`.trimEnd());
}
