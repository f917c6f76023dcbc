import { basename } from 'node:path';
import { commands } from './commands.ts';

/** How the user called this command: kubectl runs `kubectl-ot` for `kubectl ot`. */
export function calledAs(env: NodeJS.ProcessEnv): string {
  if (basename(env.OT_CALLED ?? '') === 'kubectl-ot') return 'kubectl ot';
  return env.npm_lifecycle_event === 'ot' ? 'npm run ot --' : 'ot-functions';
}

const own = new RegExp(`\\bot-functions (?=(${commands.map(({ name }) => name).join('|')})\\b)`, 'g');

/** The text with the commands that it recommends as this user has to type them. */
export const asTyped = (text: string, called: string) => text.replace(own, `${called} `);
