import type { FunctionDeclaration, Subscription } from '../../../shared/function.ts';

/** A function that subscribes to these and decides nothing; of the system images, asleep at rest. */
export const aFunction = (
  name: string,
  subscriptions: readonly Subscription[] = [],
  more: Partial<FunctionDeclaration> = {},
): FunctionDeclaration => ({
  name,
  system: 'images',
  on: subscriptions,
  may: [],
  scale: 'zero',
  observe: async () => [],
  decide: () => [],
  ...more,
});
