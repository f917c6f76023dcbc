import { Environment } from '@marcbachmann/cel-js';
import { addNetworks } from './cel-network.ts';
import { addQuantities } from './cel-quantity.ts';
import { goRegExp } from './schema-regexp.ts';

/**
 * The engine with those functions of Kubernetes' libraries that it lacks and the definitions and policies here call. A rule
 * that calls another one does not compile.
 */
export function celEnvironment(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  addQuantities(environment);
  addNetworks(environment);
  return environment
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => text.match(goRegExp(pattern))?.[0] ?? '',
    )
    .registerFunction('string.matchesInGo(string): bool', (text: string, pattern: string) =>
      goRegExp(pattern).test(text),
    )
    .registerFunction('list<int>.sum(): int', (list: Iterable<bigint>) =>
      [...list].reduce((sum, value) => sum + value, 0n),
    );
}
