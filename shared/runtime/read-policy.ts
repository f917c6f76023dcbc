import { ConfigMap } from '../kinds/core/config-map.ts';
import { type Policy, parsePolicy, policyRef } from '../policy.ts';
import type { Kube } from './kube.ts';

export const readPolicy = async (kube: Pick<Kube, 'get'>): Promise<Policy> =>
  parsePolicy(await kube.get(ConfigMap, policyRef));
