import type { ConfigMap } from './kinds/core/config-map.ts';
import { describeDefault, type Policy, type PolicyFault, type PolicyKey, policyKeys } from './policy.ts';

/** A key of the policy with its value, or its default if it is not set. */
interface PolicyEntry {
  key: PolicyKey;
  value: string;
  isSet: boolean;
  fault: PolicyFault | undefined;
}

type Data = Pick<ConfigMap, 'data'> | undefined;

/** Every key that a function reads. */
export const policyEntries = (configMap: Data, { faults }: Policy): PolicyEntry[] =>
  policyKeys.map((key) => ({
    key,
    value: configMap?.data?.[key]?.trim() ?? describeDefault(key),
    isSet: configMap?.data?.[key] !== undefined,
    fault: faults.find((found) => found.key === key),
  }));

/** The other entries of the policy: misspelt, most likely. */
export const strayEntries = (configMap: Data): { key: string; value: string }[] =>
  Object.entries(configMap?.data ?? {})
    .filter(([key]) => !policyKeys.some((known) => known === key))
    .map(([key, value]) => ({ key, value }));
