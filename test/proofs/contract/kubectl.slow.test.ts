import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test as vitestTest } from 'vitest';
import { type ApiServer, startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { Accepted } from './accept.ts';
import { definitions } from './cases.ts';
import { kubectlDeviations } from './deviations.ts';
import { differences } from './differences.ts';
import { stories } from './kubectl-story.ts';
import { readRecording } from './recording.ts';
import { runStory } from './run-kubectl.ts';

const isHere = spawnSync('kubectl', ['version', '--client']).status === 0;
const test = vitestTest.skipIf(!isHere);

describe(`kubectl prints on the local cluster what it prints on a real one${isHere ? '' : ' (needs kubectl on PATH)'}:`, async () => {
  const accepted = new Accepted(kubectlDeviations);
  const recording = await readRecording('kubectl');
  let server: ApiServer;
  let folder: string;
  beforeAll(async () => {
    server = await startApiServer({ clock: realClock });
    folder = await mkdtemp(join(tmpdir(), 'contract-'));
    await writeFile(join(folder, 'kubeconfig'), server.kubeconfig());
    for (const definition of definitions) {
      await fetch(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(definition),
      });
    }
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  for (const story of stories) {
    test(story.name, { timeout: 60_000, concurrent: true }, async () => {
      const found = await runStory(
        { kubeconfig: join(folder, 'kubeconfig'), cacheDirectory: join(folder, 'cache') },
        story,
      );
      expect(accepted.refused(story.name, differences(recording[story.name], found))).toEqual([]);
    });
  }

  test('each listed deviation is still one', () => expect(accepted.unused()).toEqual([]));
});
