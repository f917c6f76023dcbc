import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { goMissing } from '../../support/tools/go.ts';
import { argoScripts, askKstatus } from './kstatus.ts';
import { states } from './states.ts';

if (goMissing) console.log(`skipped: kstatus, Argo CD and Flux are not asked: ${goMissing}`);

test.skipIf(goMissing)(
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
