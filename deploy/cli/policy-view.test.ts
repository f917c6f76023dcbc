import { expect, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { before, pausing, resuming } from './pause.ts';
import { settingOf } from './policy.ts';
import { policyLines, policyView } from './policy-view.ts';

const look = { columns: Number.POSITIVE_INFINITY, colour: false };
const policyOf = (data: Record<string, string>, annotations: Record<string, string> = {}) =>
  ConfigMap.parse({ metadata: { name: 'sync-operator-policy', annotations }, data });

test('each key is shown with where it comes from, a fault with what was expected, an unknown key with the key that was meant', () => {
  const lines = policyLines(policyView({ data: { concurrency: '8', pruneAfter: 'soon', retryLimt: '3' } }), look);
  const line = (key: string) => lines.find((one) => one.startsWith(`${key} `))?.replace(/ {2,}/g, ' | ');
  expect(line('concurrency')).toBe('concurrency | 8 | set | 4');
  expect(line('syncTimeout')).toBe('syncTimeout | 4h | default');
  expect(line('pruneAfter')).toMatch(/^pruneAfter \| soon \| set \| 168h \| expected a duration/);
  expect(lines.at(-1)).toMatch(
    /^retryLimt: no function reads this key; was retryLimit meant\?.*policy unset retryLimt$/,
  );
});

test.each([
  [['concurency', '1'], /found "concurency"; was concurrency meant\?/],
  [['concurrency', 'many'], /expected a whole number from 0 to 1000, found "many"; nothing was changed/],
  [['concurrency'], /expected one value for concurrency, found none/],
  [['prune', 'Never', 'DryRun'], /expected one value for prune, found 2/],
])('an invalid setting is refused before it is written: %s', (words, says) => {
  expect(() => settingOf(words)).toThrow(says);
});

test.each([
  ['7', { concurrency: '7' }],
  ['', {}],
])('a pause remembers %j, and resume restores it', (remembered, data) => {
  const { write } = pausing(policyOf(data));
  expect(write).toEqual({ data: { concurrency: '0' }, annotations: { [before]: remembered } });
  const after = resuming(policyOf({ concurrency: '0' }, { [before]: remembered }));
  expect(after.write).toEqual({ data: { concurrency: remembered || null }, annotations: { [before]: null } });
});

test('a second pause or resume changes nothing, and an invalid remembered value is replaced by the default', () => {
  expect(pausing(policyOf({ concurrency: '0' })).write).toBeUndefined();
  expect(resuming(policyOf({ concurrency: '3' })).write).toBeUndefined();
  expect(resuming(policyOf({ concurrency: '0' }, { [before]: 'many' }))).toMatchObject({
    concurrency: 4,
    write: { data: { concurrency: null } },
  });
});
