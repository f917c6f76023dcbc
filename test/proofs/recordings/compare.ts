import { type Change, readScenario } from '../replay/scenarios.ts';
import { eventsOf, storiesOf } from './canonical.ts';
import { isChanceEvent, withoutChance } from './chance.ts';
import { type Deviation, deviations } from './deviations.ts';
import { runScenario } from './run-scenario.ts';
import { settings } from './settings.ts';

/** A line that only one side has. */
export interface Difference {
  /** The name of the story, or `Event`. */
  of: string;
  /** `-` before a line of the recording only, `+` before a line of the local cluster only. */
  line: string;
}

/** The recorded changes without those of the functions' own VMDiskImages. */
const recordedOf = (scenario: string): Change[] =>
  readScenario(scenario).filter(({ object }) => object.kind !== 'VMDiskImage');

/** Runs a scenario and returns the differences that no listed deviation explains. */
export async function unaccounted(scenario: string, used?: Set<Deviation>): Promise<Difference[]> {
  const recorded = recordedOf(scenario);
  const local = await runScenario(recorded, settings[scenario]);
  return differences(recorded, local).filter(({ of, line }) => {
    const deviation = deviations.find((one) => one.scenarios.test(scenario) && one.of.test(of) && one.lines.test(line));
    if (deviation) used?.add(deviation);
    return deviation === undefined;
  });
}

/** The sources of the Events that the local cluster writes, too. */
const isSimulated =
  / from (?:datavolume-[\w-]+-controller|import-controller|import-populator|clone-populator|clone-controller|snapshot-controller)$/;

/** The differences between the stories of the objects, and between the Events. */
function differences(recorded: readonly Change[], local: readonly Change[]): Difference[] {
  const [real, ours] = [withoutChance(storiesOf(recorded)), withoutChance(storiesOf(local))];
  const names = new Set([...real, ...ours].map(({ name }) => name));
  const linesOf = (stories: typeof real, name: string) => stories.find((story) => story.name === name)?.lines ?? [];
  const ofStories = [...names].flatMap((of) =>
    diff(linesOf(real, of), linesOf(ours, of)).map((line) => ({ of, line })),
  );
  const events = (changes: readonly Change[]) =>
    eventsOf(changes).filter((event) => isSimulated.test(event) && !isChanceEvent(event));
  const ofEvents = diff(events(recorded), events(local)).map((line) => ({ of: 'Event', line }));
  return [...ofStories, ...ofEvents].filter(({ line }) => !line.startsWith(' '));
}

/** The lines of two texts: a blank before a line of both, `-` if only the first has it, `+` if only the second has it. */
function diff(first: readonly string[], second: readonly string[]): string[] {
  const longest = Array.from({ length: first.length + 1 }, () => new Array<number>(second.length + 1).fill(0));
  const at = (row: number, column: number) => longest[row]?.[column] ?? 0;
  for (let row = first.length - 1; row >= 0; row--)
    for (let column = second.length - 1; column >= 0; column--) {
      const cells = longest[row] ?? [];
      cells[column] =
        first[row] === second[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < first.length || column < second.length) {
    if (row < first.length && first[row] === second[column]) {
      lines.push(` ${first[row]}`);
      row++;
      column++;
    } else if (column >= second.length || (row < first.length && at(row + 1, column) >= at(row, column + 1)))
      lines.push(`-${first[row++]}`);
    else lines.push(`+${second[column++]}`);
  }
  return lines;
}
