import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };

test('a Node that is too old for an entry point says so in one line', async () => {
  const change = "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });";
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; text: string }>();
  execFile(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(change)}`, ...packageJson.scripts.demo.split(' ').slice(1)],
    (error, out, err) => resolve({ code: error?.code, text: out + err }),
  );
  expect(await promise).toEqual({
    code: 1,
    text: expect.stringMatching(/^expected Node 24 or later, found v\S+; run npm ci, .*\n$/),
  });
});

test('no script of package.json runs TypeScript without that', () => {
  const running = Object.values(packageJson.scripts).filter((script) => /\bnode .*\.ts\b/.test(script));
  expect(running.length).toBeGreaterThan(10);
  for (const script of running) expect(script).toContain('node --import ./deploy/node.mjs ');
});
