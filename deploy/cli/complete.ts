import { parseArgs } from 'node:util';
import type { Completing, Option } from './command.ts';
import { commandOf, commands } from './commands.ts';
import { optionsOf } from './help.ts';

/** Cobra's words to a shell, which kubectl passes on: files may follow, they may not, no blank goes after the word. */
const directive = { files: 0, noFiles: 4, noBlank: 2 } as const;

/** How long the cluster has for an answer: who types does not wait. */
const patienceMs = 3000;

/** What the last of these words may become, a line each with a tab before what it is, and Cobra's directive. */
export async function completed(
  words: readonly string[],
  at: (found: Readonly<Record<string, unknown>>) => Completing,
): Promise<string[]> {
  const [name = '', ...rest] = words;
  if (words.length < 2)
    return answer(
      name,
      commands.map((command) => `${command.name}\t${command.about}`),
    );
  const command = await commandOf(name);
  if (!command) return answer('', []);
  const current = rest.at(-1) ?? '';
  const before = rest.slice(0, -1);
  const options: Readonly<Record<string, Option>> = optionsOf(command);
  const { values, positionals } = parseArgs({ args: before, options, strict: false, allowPositionals: true });
  const completing = at(values);
  const asked = Object.entries(options).find(
    ([long, { short, type }]) => type === 'string' && [`--${long}`, `-${short}`].includes(before.at(-1) ?? ''),
  );
  if (asked?.[0] === 'kubeconfig') return [`:${directive.files}`];
  if (asked) return answer(current, await quickly(valuesOf(asked, completing)));
  if (current.startsWith('-')) {
    return answer(
      current,
      Object.entries(options).map(([long, { about }]) => `--${long}\t${about}`),
    );
  }
  return answer(current, await quickly(command.complete?.(positionals, current, completing)));
}

async function valuesOf(
  [name, { values = [] }]: [string, Option],
  { cluster, contexts }: Completing,
): Promise<readonly string[]> {
  if (name === 'context') return contexts();
  if (name !== 'namespace') return values;
  const [{ namespacesIn }, { kube }] = await Promise.all([import('./target.ts'), cluster()]);
  return namespacesIn(kube);
}

/** Nothing where the cluster does not answer in time, or denies it. */
function quickly(asked: Promise<readonly string[]> | undefined): Promise<readonly string[]> {
  const late = new Promise<readonly string[]>((resolve) => setTimeout(resolve, patienceMs, []).unref());
  return Promise.race([asked ?? [], late]).catch(() => []);
}

function answer(current: string, candidates: readonly string[]): string[] {
  const fitting = candidates.filter((candidate) => candidate.startsWith(current));
  const isPartial = fitting.length > 0 && fitting.every((candidate) => candidate.endsWith('/'));
  return [...fitting, `:${directive.noFiles + (isPartial ? directive.noBlank : 0)}`];
}
