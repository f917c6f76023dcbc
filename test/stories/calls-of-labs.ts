/** What compose-workspace asked the API server while so many labs were made at once, by what it asked ("list pods"). */
export interface CallsOfLabs {
  labs: number;
  asked: ReadonlyMap<string, number>;
}

/** How many calls a lab cost. */
export const callsEach = ({ labs, asked }: CallsOfLabs) =>
  [...asked.values()].reduce((sum, count) => sum + count, 0) / labs;

/** A line for each thing that was asked, with how often for a lab, of few and of many. */
export function callLines(few: CallsOfLabs, many: CallsOfLabs): string[] {
  const each = ({ labs, asked }: CallsOfLabs, what: string) => ((asked.get(what) ?? 0) / labs).toFixed(1).padStart(7);
  const whats = [...new Set([...few.asked.keys(), ...many.asked.keys()])].sort();
  const head = `${`of ${few.labs}`.padStart(7)} ${`of ${many.labs}`.padStart(7)}  calls of compose-workspace for a lab`;
  const sum = `${callsEach(few).toFixed(1).padStart(7)} ${callsEach(many).toFixed(1).padStart(7)}  all of them`;
  return [head, ...whats.map((what) => `${each(few, what)} ${each(many, what)}  ${what}`), sum];
}
