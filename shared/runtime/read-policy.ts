import { ConfigMap } from '../kinds/core/config-map.ts';
import { type Policy, parsePolicy, policyRef } from '../policy.ts';
import type { Kube } from './kube.ts';

/** The policy's ConfigMap; undefined if it does not exist and all keys have their defaults. */
export const readPolicyMap = (kube: Pick<Kube, 'get'>): Promise<ConfigMap | undefined> =>
  kube.get(ConfigMap, policyRef);

export const readPolicy = async (kube: Pick<Kube, 'get'>): Promise<Policy> => parsePolicy(await readPolicyMap(kube));
