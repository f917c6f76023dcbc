import { UsageError } from '../../terminal/arguments.ts';
import { readOptions, usage } from './arguments.ts';
import { InstallError } from './cluster.ts';
import { clusterOf } from './connect.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import { run } from './run.ts';
import { describeTrouble } from './trouble.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options) return await run(clusterOf(kubeconfigOf(options), { ...options, say: console.log }), options);
    console.log(usage);
    return 0;
  } catch (error) {
    console.error(describeError(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

/** One line for an error that an admin can correct; an internal error keeps its stack. */
function describeError(error: unknown): unknown {
  if (error instanceof InstallError || error instanceof UsageError) return error.message;
  return describeTrouble(error) ?? error;
}
