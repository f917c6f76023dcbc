import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { describeDefault, type Policy, parsePolicy } from '../../shared/policy.ts';
import { readPolicyMap } from '../../shared/runtime/read-policy.ts';
import { type Body, type Call, exit, type Outcome } from './command.ts';
import { writePolicy } from './write-policy.ts';

/** Annotation on the policy's ConfigMap with the `concurrency` before the pause; empty if it was not set. */
export const before = 'pelotech.ot/concurrency-before-pause';

/** Keys to write (null removes the key), and a message about it. */
interface Change {
  says: string;
  concurrency: number;
  write?: { data: Record<string, string | null>; annotations: Record<string, string | null> };
}

const isPaused = ({ values }: Policy) => values.concurrency === 0;

/** Starts no further downloads; running downloads continue. */
export function pausing(policy: ConfigMap | undefined): Change {
  const text = policy?.data?.concurrency;
  if (isPaused(parsePolicy(policy))) return { says: 'It is paused already.', concurrency: 0 };
  return {
    says: 'Paused: no download starts, running downloads continue. To start downloads again: ot-functions resume',
    concurrency: 0,
    write: { data: { concurrency: '0' }, annotations: { [before]: text ?? '' } },
  };
}

/** Restores the concurrency from before the pause, or the default if it is unknown. */
export function resuming(policy: ConfigMap | undefined): Change {
  const { concurrency } = parsePolicy(policy).values;
  if (concurrency !== 0) return { says: `It is not paused: concurrency is ${concurrency}.`, concurrency };
  const remembered = policy?.metadata.annotations?.[before] ?? '';
  const after = parsePolicy(remembered === '' ? undefined : { data: { concurrency: remembered } });
  const isUsable = remembered !== '' && after.faults.length === 0 && after.values.concurrency > 0;
  const now = isUsable ? after.values.concurrency : Number(describeDefault('concurrency'));
  return {
    says: `Resumed with concurrency ${now}${isUsable ? ', as before' : ', the default'}.`,
    concurrency: now,
    write: { data: { concurrency: isUsable ? remembered : null }, annotations: { [before]: null } },
  };
}

async function change({ cluster }: Call, to: (policy: ConfigMap | undefined) => Change): Promise<Outcome> {
  const { kube } = await cluster();
  const policy = await readPolicyMap(kube);
  const { says, concurrency, write } = to(policy);
  if (write) await writePolicy(kube, policy, write.data, write.annotations);
  return { lines: [says], json: { concurrency, changed: write !== undefined }, code: exit.done };
}

export const pause: Body = {
  words: '',
  options: { off: { type: 'boolean', about: 'the same as ot-functions resume' } },
  details: [
    'Sets concurrency of the policy to 0 and remembers what it was in an annotation of the ConfigMap. Running',
    'downloads continue.',
  ],
  examples: ['pause', 'pause --off'],
  run: (call) => change(call, call.is('off') ? resuming : pausing),
};

export const resume: Body = {
  words: '',
  options: {},
  details: [],
  examples: ['resume'],
  run: (call) => change(call, resuming),
};

/** What setting a key (or unsetting it) says and writes in addition if it ends a pause: a later resume restores what was before a later one. */
export function endOfPause(policy: ConfigMap | undefined, key: string, value?: string) {
  const { [key]: _, ...others } = policy?.data ?? {};
  const after = parsePolicy({ data: value === undefined ? others : { ...others, [key]: value } });
  const isEnd = isPaused(parsePolicy(policy)) && !isPaused(after);
  return isEnd ? { says: ' This ends the pause.', annotations: { [before]: null } } : { says: '', annotations: {} };
}
