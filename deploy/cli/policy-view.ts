import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { describeDefault, type PolicyKey, parsePolicy, policyKeys } from '../../shared/policy.ts';
import { policyEntries, strayEntries } from '../../shared/policy-entries.ts';
import { oneLine } from '../../shared/sentence.ts';
import { type Look, type Span, styled } from '../terminal/paint.ts';
import { tableLines } from '../terminal/table.ts';
import { nearestOf } from './nearest.ts';

/** A key of the policy and its current value. */
interface KeyView {
  key: PolicyKey;
  value: string;
  from: 'set' | 'default';
  default: string;
  /** What was expected if the value does not parse: then nothing that depends on it starts. */
  fault?: string;
}

/** A key that no function reads. */
interface Stray {
  key: string;
  value: string;
  meant?: string;
}

interface PolicyView {
  keys: KeyView[];
  unknown: Stray[];
}

/** The policy key by key, and the keys that no function reads. */
export function policyView(configMap: Pick<ConfigMap, 'data'> | undefined): PolicyView {
  return {
    keys: policyEntries(configMap, parsePolicy(configMap)).map(({ key, value, isSet, fault }) => ({
      key,
      value,
      from: isSet ? 'set' : 'default',
      default: describeDefault(key),
      ...(fault ? { fault: `expected ${fault.expected}` } : {}),
    })),
    unknown: strayEntries(configMap).map(({ key, value }) => {
      const meant = nearestOf(key, policyKeys);
      return { key, value, ...(meant ? { meant } : {}) };
    }),
  };
}

/** The policy as a table, then its faults. */
export function policyLines({ keys, unknown }: PolicyView, look: Look): string[] {
  const hasFault = keys.some(({ fault }) => fault);
  const columns = ['KEY', 'VALUE', 'FROM', 'DEFAULT', ...(hasFault ? ['FAULT'] : [])].map((title) => ({ title }));
  const rows = keys.map(({ key, value, from, default: fallback, fault }): Span[] => [
    fault ? styled('red', key) : key,
    shortened(value) || '-',
    from === 'set' ? from : styled('dim', from),
    styled('dim', from === 'set' && shortened(value) !== shortened(fallback) ? shortened(fallback) || '-' : ''),
    fault ? styled('red', fault) : '',
  ]);
  return [...tableLines(columns, rows, look), ...(unknown.length > 0 ? ['', ...unknown.map(describeStray)] : [])];
}

/** Describes a key that no function reads, and the key that was most likely meant. */
export const describeStray = ({ key, meant }: Stray) =>
  `${key}: no function reads this key${meant ? `; was ${meant} meant?` : ''} Remove it: ot-functions policy unset ${key}`;

const shortened = (value: string) => {
  const line = oneLine(value);
  return line.length > 48 ? `${line.slice(0, 47)}…` : line;
};
