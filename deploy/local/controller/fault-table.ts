/** When a fault is injected, and into what. */
export interface FaultTarget {
  /** The names it applies to; a string matches if a name contains it. */
  match: string | RegExp;
  /** How often it is injected; always if left out. */
  times?: number;
  /** How many occasions pass before the first. */
  after?: number;
}

export const matches = ({ match }: FaultTarget, texts: readonly string[]) =>
  texts.some((text) => (typeof match === 'string' ? text.includes(match) : text.search(match) >= 0));

type Rule = FaultTarget & { mode: string };

/** Rules that remember how often they were injected. */
export interface FaultTable<R extends Rule, N> {
  /**
   * The rule of one of these modes that is injected on this occasion. The same occasion always gets the same answer, however
   * often a controller looks.
   */
  inject<M extends R['mode']>(occasion: string, name: N, ...modes: M[]): Extract<R, { mode: M }> | undefined;
}

/** The table of these rules; `textsOf` tells by which texts a name is matched. */
export function tableOf<R extends Rule, N>(
  rules: readonly R[],
  textsOf: (name: N) => readonly string[],
): FaultTable<R, N> {
  const passed = new Map<R, number>();
  const answers = new Map<string, R | undefined>();
  const isDue = (rule: R) => {
    const occasion = passed.get(rule) ?? 0;
    passed.set(rule, occasion + 1);
    const first = rule.after ?? 0;
    return occasion >= first && occasion < first + (rule.times ?? Number.POSITIVE_INFINITY);
  };
  return {
    inject<M extends R['mode']>(occasion: string, name: N, ...modes: M[]) {
      const candidates = rules.filter(
        (rule) => (modes as string[]).includes(rule.mode) && matches(rule, textsOf(name)),
      );
      if (candidates.length === 0) return undefined;
      const key = `${modes.join()} ${occasion}`;
      if (!answers.has(key)) answers.set(key, candidates.find(isDue));
      return answers.get(key) as Extract<R, { mode: M }> | undefined;
    },
  };
}
