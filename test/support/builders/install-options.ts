import { readCommandLine, valuesOf } from '../../../deploy/cli/command-line.ts';
import { bodies, readOptions } from '../../../deploy/cli/install/commands.ts';
import type { Options } from '../../../deploy/cli/install/run.ts';

/** The options of a command line of the installer. */
export function typed(name: Options['command'], ...args: string[]): Options {
  const { found } = readCommandLine(
    { name, about: '', load: async () => bodies[name], ...bodies[name] },
    args,
    'ot-functions',
  );
  return readOptions(name, valuesOf(found));
}
