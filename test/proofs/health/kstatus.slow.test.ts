import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { argoScripts, askKstatus, isGoThere } from './kstatus.ts';
import { states } from './states.ts';

if (!isGoThere) console.log('skipped: kstatus, Argo CD and Flux are asked only where there is Go');

test.skipIf(!isGoThere)(
  'kstatus itself, Argo CD with our Lua, and Flux with our expressions, tell every state',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ot-kstatus-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    expect(new Set(await argoScripts()).size).toBe(1);
    const found = await askKstatus(
      folder,
      states.map(({ image }) => image),
    );
    expect(found.map((one, index) => ({ state: states[index]?.state, ...one }))).toEqual(
      states.map(({ state, kstatus, argo, flux }) => ({ state, kstatus, argo, flux })),
    );
  },
  600_000,
);
