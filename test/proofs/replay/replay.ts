import { clone } from './clone.ts';
import { type Expected, expected } from './expected.ts';
import { type Followed, follow } from './follow.ts';
import { Recording } from './recording.ts';

/** The decisions of the functions over a scenario: an entry for each attempt. */
export async function replay(name: string): Promise<Followed[]> {
  const row = expectedOf(name);
  const recording = new Recording(name);
  if (row.sizes) return [await clone(recording, row.sizes)];
  const isCut = (attempt: number) => row.ends[attempt - 1] === 'Syncing';
  return follow(recording, row.policy ?? {}, isCut);
}

function expectedOf(name: string): Expected {
  const row = expected[name];
  if (!row) throw new Error(`expected a row for scenario ${name} in test/proofs/replay/expected.ts`);
  return row;
}

/** The differences from the expected results, one a line. */
export function differences(name: string, decided: readonly Followed[]): string[] {
  const { ends, says } = expectedOf(name);
  const said = decided.flatMap((attempt) => [...attempt.said]);
  return [
    ...ends.flatMap((end, index) => {
      const found = decided[index]?.end ?? 'no such attempt';
      return found === end ? [] : [`attempt ${index + 1}: expected ${end}, found ${found}`];
    }),
    ...decided.slice(ends.length).map(({ end }) => `expected no further attempt, found one ending ${end}`),
    ...decided.flatMap(({ others, reconciles }) =>
      [...others].map(([transition, count]) => `also ${transition} in ${count} of ${reconciles} reconciles`),
    ),
    ...(says && !said.some((message) => says.test(message)) ? [`expected a message like ${says}, found none`] : []),
    ...decided.flatMap(({ untold }) => [...untold].map((message) => `conditions do not say: ${message}`)),
    ...said.filter((message) => message.includes('\n')).map(() => 'a message of more than one line'),
  ];
}
