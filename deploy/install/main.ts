import { KubeConfig } from '@kubernetes/client-node';
import { ApiError } from '../../shared/runtime/errors.ts';
import { UsageError } from '../local/terminal/arguments.ts';
import { type Options, readOptions, usage } from './arguments.ts';
import { clusterOf, InstallError } from './cluster.ts';
import { run } from './run.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options) return await run(clusterOf(kubeconfigOf(options), { ...options, say: console.log }), options);
    console.log(usage);
    return 0;
  } catch (error) {
    console.error(sayError(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

function kubeconfigOf({ kubeconfig, context }: Options): KubeConfig {
  const config = new KubeConfig();
  if (kubeconfig) config.loadFromFile(kubeconfig);
  else config.loadFromDefault();
  if (context) config.setCurrentContext(context);
  return config;
}

/** What an admin can act on in one line; anything else is a fault of this program and keeps its stack. */
function sayError(error: unknown): unknown {
  if (error instanceof InstallError || error instanceof UsageError) return error.message;
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  return error;
}
