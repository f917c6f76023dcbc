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
  const from = kubeconfig ?? process.env.KUBECONFIG ?? '~/.kube/config';
  try {
    if (kubeconfig) config.loadFromFile(kubeconfig);
    else config.loadFromDefault();
  } catch (error) {
    throw new UsageError(`expected a kubeconfig in ${from}, found: ${error instanceof Error ? error.message : error}`);
  }
  if (context) config.setCurrentContext(context);
  if (!config.getCurrentCluster()) {
    const known = config.getContexts().map(({ name }) => name);
    throw new UsageError(
      `expected a context of ${from} (${known.join(', ') || 'it has none'}), found ${config.getCurrentContext() || 'none'}; choose one with --context`,
    );
  }
  // What the client makes up where there is no kubeconfig at all.
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new UsageError(`expected a kubeconfig in ${from}, found none; name one with --kubeconfig or KUBECONFIG`);
  return config;
}

/** What an admin can act on in one line; anything else is a fault of this program and keeps its stack. */
function sayError(error: unknown): unknown {
  if (error instanceof InstallError || error instanceof UsageError) return error.message;
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  if (error instanceof TypeError && error.message === 'fetch failed') {
    const { cause } = error;
    return `the API server cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
  return error;
}
