import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonPatch, mergePatch, PatchError, strategicMergePatch } from './patch.ts';

const json = fc.jsonValue({ maxDepth: 4 });
const withoutNulls = json.map((value) => mergePatch({}, { value }));
const object = fc.dictionary(fc.string(), json);

describe('a merge patch', () => {
  test.each([
    ['changes a member', { a: 'b' }, { a: 'c' }, { a: 'c' }],
    ['adds a member', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    ['removes a member by null', { a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    ['replaces a list whole', { a: ['b'] }, { a: ['c', 'd'] }, { a: ['c', 'd'] }],
    ['removes deep inside', { a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    ['keeps nulls inside a list', { a: 1 }, { a: [null] }, { a: [null] }],
    ['drops nulls of an object in a list', { a: 1 }, { a: [{ b: null, c: [{ d: null }] }] }, { a: [{ c: [{}] }] }],
    ['drops nulls of a new object', {}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ['replaces what is no object', ['a'], { a: 'b' }, { a: 'b' }],
    ['replaces the target by what is no object', { a: 'b' }, ['c'], ['c']],
    ['keeps a null it does not name', { e: null }, { a: 1 }, { e: null, a: 1 }],
  ])('%s', (_fact, target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });

  test('applied twice is applied once', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
      }),
    );
  });

  test('that is empty changes nothing', () => {
    fc.assert(
      fc.property(object, (target) => {
        expect(mergePatch(target, {})).toEqual(target);
      }),
    );
  });

  test('to an empty object is the patch itself where it holds no null', () => {
    fc.assert(
      fc.property(withoutNulls, (patch) => {
        expect(mergePatch({}, patch)).toEqual(patch);
      }),
    );
  });

  test('never changes its arguments', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        mergePatch(target, patch);
        expect(JSON.stringify([target, patch])).toBe(before);
      }),
    );
  });
});

// What patches do to objects of the server: test/proofs/contract/cases-patch.ts.
describe('a JSON patch', () => {
  const target = { spec: { url: 'x' } };

  test.each([
    ['a failed test', [{ op: 'test', path: '/spec/url', value: 'y' }]],
    ['an unknown operation', [{ op: 'upsert', path: '/spec/url', value: 'y' }]],
    ['an operation without value', [{ op: 'add', path: '/spec/url' }]],
  ])('is refused with the operation for %s', (_fact, operations) => {
    expect(() => jsonPatch(target, operations)).toThrow(PatchError);
    expect(() => jsonPatch(target, operations)).toThrow(JSON.stringify(operations[0]));
  });

  test('that is no array is refused', () => {
    expect(() => jsonPatch(target, { op: 'add' })).toThrow(PatchError);
  });
});

describe('a strategic merge patch', () => {
  const a = { name: 'a', image: 'x', env: [{ name: 'E', value: '1' }] };
  const b = { name: 'b', image: 'y' };

  test.each([
    ['merges objects and removes by null', { a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    ['replaces a map with $patch', { a: { b: 1 } }, { a: { c: 2, $patch: 'replace' } }, { a: { c: 2 } }],
    ['empties a map with $patch', { a: { b: 1 } }, { a: { $patch: 'delete' } }, { a: {} }],
    [
      'orders by $setElementOrder',
      { containers: [a, b] },
      { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] },
      { containers: [b, a] },
    ],
    [
      'keeps elements only the server knows where they were',
      { containers: [{ name: 's' }, a, b] },
      { '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }, { name: 'c' }], containers: [{ name: 'c' }] },
      { containers: [{ name: 's' }, a, b, { name: 'c' }] },
    ],
    [
      'merges ownerReferences by uid',
      { metadata: { ownerReferences: [{ uid: '1', name: 'x' }] } },
      { metadata: { ownerReferences: [{ uid: '1', controller: true }] } },
      { metadata: { ownerReferences: [{ uid: '1', name: 'x', controller: true }] } },
    ],
    [
      'merges conditions by type',
      { status: { conditions: [{ type: 'Ready', status: 'False' }, { type: 'Other' }] } },
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      { status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] } },
    ],
    [
      'merges ports of a Service by port',
      { spec: { ports: [{ port: 80, name: 'http' }] } },
      { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
      { spec: { ports: [{ port: 80, name: 'http', targetPort: 8080 }] } },
    ],
    ['replaces a list without merge key', { args: ['a', 'b'] }, { args: ['c'] }, { args: ['c'] }],
    [
      'keeps only what $retainKeys lists',
      { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      { strategy: { type: 'Recreate' } },
    ],
    ['drops directives of what is new', {}, { a: { b: null, c: [{ $patch: 'delete', name: 'x' }] } }, { a: { c: [] } }],
  ])('%s', (_fact, target, patch, expected) => {
    expect(strategicMergePatch(target, patch)).toEqual(expected);
  });

  test.each([
    ['an unknown $patch', { a: { b: 1 } }, { a: { $patch: 'upsert' } }, 'unknown patch type: upsert'],
    ['an element without its key', { containers: [a] }, { containers: [{ image: 'z' }] }, 'merge key: name'],
    ['fields that $retainKeys does not list', { a: { b: 1 } }, { a: { $retainKeys: ['b'], c: 1 } }, 'retainKeys'],
    [
      'elements that $setElementOrder does not list',
      { containers: [a] },
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'c' }] },
      'setElementOrder',
    ],
    ['a removal that is no list', { finalizers: ['a'] }, { '$deleteFromPrimitiveList/finalizers': 'a' }, 'a list'],
    ['a patch that is no object', {}, [], 'objects'],
  ])('is refused for %s', (_fact, target, patch, message) => {
    expect(() => strategicMergePatch(target, patch)).toThrow(PatchError);
    expect(() => strategicMergePatch(target, patch)).toThrow(message);
  });

  test('without lists and directives is a merge patch', () => {
    const flat = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.string(), fc.integer(), tie('object')),
      object: fc.dictionary(
        fc.string().filter((name) => !name.startsWith('$') && name !== '__proto__'),
        tie('value'),
        { noNullPrototype: true },
      ),
    })).object as fc.Arbitrary<Record<string, unknown>>;
    fc.assert(
      fc.property(flat, flat, (target, patch) => {
        expect(strategicMergePatch(target, patch)).toEqual(mergePatch(target, patch));
      }),
    );
  });

  test('never changes its arguments', () => {
    const target = { containers: [a, b] };
    const patch = { containers: [{ name: 'a', $patch: 'delete' }], '$setElementOrder/containers': [{ name: 'b' }] };
    const before = structuredClone([target, patch]);
    strategicMergePatch(target, patch);
    expect([target, patch]).toEqual(before);
  });
});
