import type { RequestOptions } from 'node:https';
import { KubeConfig, type RequestContext } from '@kubernetes/client-node';
import { Agent } from 'undici';
import { UsageError } from '../../terminal/arguments.ts';

/** The options that choose a cluster; the default is kubectl's. */
export interface Where {
  kubeconfig: string | undefined;
  context: string | undefined;
  /** Whom requests are made as, and that user's groups. */
  as?: string | undefined;
  asGroups?: readonly string[];
}

/** The kubeconfig with the chosen context; throws a UsageError that says what was expected and found. */
export function kubeconfigOf({ kubeconfig, context, as, asGroups = [] }: Where): KubeConfig {
  if (asGroups.length > 0 && !as) throw new UsageError('expected --as with --as-group, found none');
  const config = as ? new Impersonating(as, asGroups) : new KubeConfig();
  // An empty variable names none, as for kubectl.
  const from = kubeconfig ?? (process.env.KUBECONFIG || '~/.kube/config');
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

/** Each request is made as another user; the library knows no groups. */
class Impersonating extends KubeConfig {
  readonly #headers: Record<string, string | string[]>;

  constructor(user: string, groups: readonly string[]) {
    super();
    this.#headers = { 'Impersonate-User': user, ...(groups.length > 0 ? { 'Impersonate-Group': [...groups] } : {}) };
  }

  override async applyToHTTPSOptions(options: RequestOptions): Promise<void> {
    await super.applyToHTTPSOptions(options);
    options.headers = { ...(options.headers as Record<string, string>), ...this.#headers };
  }

  /** Of a watch, which is a fetch: that would join all groups into one header. */
  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    const dispatcher = context.getDispatcher() ?? new Agent();
    context.setDispatcher(
      dispatcher.compose((dispatch) => (options, handler) => {
        const headers = { ...(options.headers as Record<string, string>), ...this.#headers };
        return dispatch({ ...options, headers }, handler);
      }),
    );
  }
}

/** The message of a YAML parser quotes the text that it could not read, which may contain tokens. */
function describeUnread(error: unknown): string {
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  if (reason && mark) return `${reason} in line ${mark.line + 1}`;
  return error instanceof Error ? error.message : String(error);
}
