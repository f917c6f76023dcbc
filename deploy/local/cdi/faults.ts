/** What can go wrong with an import, or the clone of a snapshot, beyond what a real download brings by itself. */
export type FaultMode =
  /** The controller looks too late: a failure shows only as one restart more. */
  | { mode: 'missedTerminated' }
  /** As CDI before 1.59: the request for scratch space looks like an error and a restart. */
  | { mode: 'oldScratch' }
  /** The transfer stops at this share of its bytes and nothing ever says so. */
  | { mode: 'stall'; at?: number }
  /** The kubelet evicts the pod at this share. */
  | { mode: 'evicted'; at?: number }
  /** Someone deletes the pod at this share, as draining a node does. */
  | { mode: 'drained'; at?: number }
  /** The container is killed for its memory at this share. */
  | { mode: 'oom'; at?: number }
  /** No node takes the pod for this time. */
  | { mode: 'unschedulable'; forMs: number }
  /** The namespace's quota has no room for the claim. */
  | { mode: 'quota' }
  /** The driver makes no volume. */
  | { mode: 'provisionError' }
  /** The volume vanishes after a successful import. */
  | { mode: 'claimLost' }
  /** CDI does nothing for this time, from the DataVolume's creation or so long after it on. */
  | { mode: 'controllerDown'; fromMs?: number; forMs: number }
  /** The phase goes back once while the import runs. */
  | { mode: 'flap' }
  /** Cloning a snapshot meets an error for this time: Running is False with reason Error, and the phase stays what it was. */
  | { mode: 'cloneError'; forMs: number };

/** A fault for the imports whose URL or DataVolume name matches (a clone has no URL); a string matches where it is contained. */
export type FaultRule = FaultMode & {
  match: string | RegExp;
  /** How often it strikes; always when left out. */
  times?: number;
  /** How many occasions it lets pass first. */
  after?: number;
};

export interface ImportName {
  dataVolume: string;
  url: string;
}

/** The rules with their memory of how often they struck. */
export interface Faults {
  /**
   * The rule of one of these modes that strikes on this occasion. The same occasion always gets the same answer, however
   * often a controller looks.
   */
  strike<M extends FaultMode['mode']>(occasion: string, name: ImportName, ...modes: M[]): RuleOf<M> | undefined;
}

type RuleOf<M extends FaultMode['mode']> = Extract<FaultRule, { mode: M }>;

export function faultTable(rules: readonly FaultRule[]): Faults {
  const passed = new Map<FaultRule, number>();
  const answers = new Map<string, FaultRule | undefined>();
  const strikesNow = (rule: FaultRule) => {
    const occasion = passed.get(rule) ?? 0;
    passed.set(rule, occasion + 1);
    const first = rule.after ?? 0;
    return occasion >= first && occasion < first + (rule.times ?? Number.POSITIVE_INFINITY);
  };
  return {
    strike<M extends FaultMode['mode']>(occasion: string, name: ImportName, ...modes: M[]) {
      const isOfModes = (rule: FaultRule): rule is RuleOf<M> => (modes as string[]).includes(rule.mode);
      const candidates = rules.filter(isOfModes).filter((rule) => matches(rule, name));
      if (candidates.length === 0) return undefined;
      const key = `${modes.join()} ${occasion}`;
      if (!answers.has(key)) answers.set(key, candidates.find(strikesNow));
      return answers.get(key) as RuleOf<M> | undefined;
    },
  };
}

const matches = ({ match }: FaultRule, { dataVolume, url }: ImportName) =>
  [dataVolume, url].some((text) => (typeof match === 'string' ? text.includes(match) : match.test(text)));
