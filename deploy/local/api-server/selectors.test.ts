import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';

describe('a label selector', () => {
  const labels = { app: 'web', tier: 'front', 'pelotech.ot/keep': '', replicas: '3' };
  test.each([
    ['', true],
    ['  ', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web , tier=front', true],
    ['app=api', false],
    ['app!=api', true],
    ['app!=web', false],
    ['missing!=web', true],
    ['missing=', false],
    ['pelotech.ot/keep=', true],
    ['app', true],
    ['missing', false],
    ['!missing', true],
    ['! app', false],
    ['app in (web,api)', true],
    ['app in(api)', false],
    ['missing in (web)', false],
    ['app notin (api, db)', true],
    ['app notin (web)', false],
    ['missing notin (web)', true],
    ['pelotech.ot/keep in (,x)', true],
    ['pelotech.ot/keep in ()', true],
    ['in in (in)', false],
    ['replicas>2', true],
    ['replicas<3', false],
    ['app>2', false],
    ['app=web,tier!=front', false],
  ])("'%s' says %s of the labels of a web front", (selector, expected) => {
    expect(parseLabelSelector(selector)(labels)).toBe(expected);
  });

  test('treats an object without labels as one with no label', () => {
    expect(parseLabelSelector('!app')(undefined)).toBe(true);
    expect(parseLabelSelector('app')(undefined)).toBe(false);
  });

  test.each([
    ['app=web,'],
    [',app=web'],
    ['app in web'],
    ['app in (web'],
    ['app in (web tier)'],
    ['=web'],
    ['app=='.concat('=')],
    ['app web'],
    ['app=-web'],
    [`app=${'x'.repeat(64)}`],
    ['!'],
    ['-app'],
    ['replicas>two'],
  ])("'%s' is refused with what was expected", (selector) => {
    expect(() => parseLabelSelector(selector)).toThrow(/unable to parse requirement: .*expected/);
  });

  const key = fc.constantFrom('app', 'tier', 'example.com/role');
  const value = fc.constantFrom('', 'a', 'b', 'c-1');
  const requirement = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('=', '==', '!='), values: fc.tuple(value) }),
    fc.record({ key, operator: fc.constantFrom('in', 'notin'), values: fc.array(value, { minLength: 1 }) }),
    fc.record({ key, operator: fc.constantFrom('exists', '!'), values: fc.constant([] as string[]) }),
  );
  type Requirement = { key: string; operator: string; values: string[] };
  const write = ({ key, operator, values }: Requirement) => {
    if (operator === 'exists') return key;
    if (operator === '!') return `!${key}`;
    return operator.endsWith('in') ? `${key} ${operator} (${values.join(',')})` : `${key}${operator}${values[0]}`;
  };
  const holds = ({ key, operator, values }: Requirement, labels: Record<string, string>) => {
    const has = labels[key] !== undefined && (operator === 'exists' || values.includes(labels[key]));
    if (operator === '!') return labels[key] === undefined;
    return operator === '!=' || operator === 'notin' ? !has : has;
  };

  test('written from requirements and read again, selects by exactly those', () => {
    fc.assert(
      fc.property(fc.array(requirement), fc.dictionary(key, value, { noNullPrototype: true }), (all, labels) => {
        const matches = parseLabelSelector(all.map(write).join(','));
        expect(matches(labels)).toBe(all.every((one) => holds(one, labels)));
      }),
    );
  });
});

describe('a field selector', () => {
  test.each([
    ['', []],
    ['metadata.name=a', [{ field: 'metadata.name', operator: '=', value: 'a' }]],
    ['metadata.name==a', [{ field: 'metadata.name', operator: '=', value: 'a' }]],
    ['status.phase!=', [{ field: 'status.phase', operator: '!=', value: '' }]],
    [
      'status.phase!=Failed,spec.url=',
      [
        { field: 'status.phase', operator: '!=', value: 'Failed' },
        { field: 'spec.url', operator: '=', value: '' },
      ],
    ],
    ['spec.url=https://a/b?c\\=d\\,e\\\\', [{ field: 'spec.url', operator: '=', value: 'https://a/b?c=d,e\\' }]],
    [
      'a=1,,b=2',
      [
        { field: 'a', operator: '=', value: '1' },
        { field: 'b', operator: '=', value: '2' },
      ],
    ],
  ])("'%s' has these terms", (text, expected) => {
    expect(parseFieldSelector(text)).toEqual(expected);
  });

  test.each([
    ['status.phase', "can't understand 'status.phase'"],
    ['a=b=c', 'unescaped character in value: ='],
    ['a=\\n', 'invalid escape sequence: \\n'],
    ['a=b\\', 'invalid escape sequence: \\'],
  ])("'%s' is refused: %s", (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  test('gives back any value that was escaped', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const escaped = value.replaceAll(/[\\,=]/g, '\\$&');
        expect(parseFieldSelector(`spec.url!=${escaped}`)).toEqual([{ field: 'spec.url', operator: '!=', value }]);
      }),
    );
  });
});
