import { expect, test } from 'vitest';
import { sbomOf } from './sbom.ts';

const integrity = `sha512-${Buffer.from('ab', 'hex').toString('base64')}`;
const locked = {
  'node_modules/hono': { version: '4.0.0', integrity, license: 'MIT' },
  'node_modules/@scope/a': { version: '1.0.0', integrity },
  'node_modules/@scope/a/node_modules/hono': { version: '3.0.0', integrity, license: '(MIT OR CC0-1.0)' },
  'node_modules/not-bundled': { version: '9.0.0', integrity },
};
const own = { name: 'ot-functions', version: '0.1.0' };

test('names each package of the bundle once, with version, hash and licence, and no other', () => {
  const inputs = [
    'deploy/image/main.ts',
    'node_modules/hono/dist/index.js',
    '../checkout/node_modules/hono/dist/router.js',
    'node_modules/@scope/a/index.js',
    'node_modules/@scope/a/node_modules/hono/index.js',
  ];
  const hashes = [{ alg: 'SHA-512', content: 'ab' }];
  const { metadata, components } = sbomOf(inputs, own, locked);
  expect(metadata.component).toMatchObject({ purl: 'pkg:npm/ot-functions@0.1.0' });
  expect(components).toMatchObject([
    { purl: 'pkg:npm/%40scope/a@1.0.0', name: '@scope/a', hashes },
    { purl: 'pkg:npm/hono@3.0.0', name: 'hono', hashes, licenses: [{ expression: '(MIT OR CC0-1.0)' }] },
    { purl: 'pkg:npm/hono@4.0.0', name: 'hono', version: '4.0.0', hashes, licenses: [{ expression: 'MIT' }] },
  ]);
});

test('a package that package-lock.json does not have is an error', () => {
  expect(() => sbomOf(['node_modules/foreign/index.js'], own, locked)).toThrow('node_modules/foreign');
});
