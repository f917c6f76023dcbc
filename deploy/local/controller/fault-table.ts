/** What every rule of faults says beside what goes wrong. */
export interface Struck {
  /** Whom it strikes; a string matches where it is contained. */
  match: string | RegExp;
  /** How often it strikes; always when left out. */
  times?: number;
  /** How many occasions it lets pass first. */
  after?: number;
}

type Rule = Struck & { mode: string };

/** Rules with their memory of how often they struck. */
export interface FaultTable<R extends Rule, N> {
  /**
   * The rule of one of these modes that strikes on this occasion. The same occasion always gets the same answer, however
   * often a controller looks.
   */
  strike<M extends R['mode']>(occasion: string, name: N, ...modes: M[]): Extract<R, { mode: M }> | undefined;
}

/** The table of these rules; `textsOf` tells by which texts a name is matched. */
export function tableOf<R extends Rule, N>(
  rules: readonly R[],
  textsOf: (name: N) => readonly string[],
): FaultTable<R, N> {
  const passed = new Map<R, number>();
  const answers = new Map<string, R | undefined>();
  const strikesNow = (rule: R) => {
    const occasion = passed.get(rule) ?? 0;
    passed.set(rule, occasion + 1);
    const first = rule.after ?? 0;
    return occasion >= first && occasion < first + (rule.times ?? Number.POSITIVE_INFINITY);
  };
  const matches = ({ match }: R, name: N) =>
    textsOf(name).some((text) => (typeof match === 'string' ? text.includes(match) : match.test(text)));
  return {
    strike<M extends R['mode']>(occasion: string, name: N, ...modes: M[]) {
      const candidates = rules.filter((rule) => (modes as string[]).includes(rule.mode) && matches(rule, name));
      if (candidates.length === 0) return undefined;
      const key = `${modes.join()} ${occasion}`;
      if (!answers.has(key)) answers.set(key, candidates.find(strikesNow));
      return answers.get(key) as Extract<R, { mode: M }> | undefined;
    },
  };
}
