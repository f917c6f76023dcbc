import { KubeConfig } from '@kubernetes/client-node';
import { UsageError } from '../../terminal/arguments.ts';

/** The options that choose a cluster; the default is kubectl's. */
export interface Where {
  kubeconfig: string | undefined;
  context: string | undefined;
}

/** The kubeconfig with the chosen context; throws a UsageError that says what was expected and found. */
export function kubeconfigOf({ kubeconfig, context }: Where): KubeConfig {
  const config = new KubeConfig();
  const from = kubeconfig ?? process.env.KUBECONFIG ?? '~/.kube/config';
  try {
    if (kubeconfig) config.loadFromFile(kubeconfig);
    else config.loadFromDefault();
  } catch (error) {
    throw new UsageError(`expected a kubeconfig in ${from}, found: ${describeUnread(error)}`);
  }
  if (context) config.setCurrentContext(context);
  if (!config.getCurrentCluster()) {
    const known = config.getContexts().map(({ name }) => name);
    throw new UsageError(
      `expected a context of ${from} (${known.join(', ') || 'it has none'}), found ${config.getCurrentContext() || 'none'}; choose one with --context`,
    );
  }
  // The default of the client if no kubeconfig exists.
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new UsageError(`expected a kubeconfig in ${from}, found none; name one with --kubeconfig or KUBECONFIG`);
  return config;
}

/** The message of a YAML parser quotes the text that it could not read, which may contain tokens. */
function describeUnread(error: unknown): string {
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  if (reason && mark) return `${reason} in line ${mark.line + 1}`;
  return error instanceof Error ? error.message : String(error);
}
