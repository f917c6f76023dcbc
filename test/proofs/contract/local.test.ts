import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiServer, startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { Accepted } from './accept.ts';
import { definitions, groups } from './cases.ts';
import { deviations } from './deviations.ts';
import { differences } from './differences.ts';
import { readRecording } from './recording.ts';
import { runCase } from './run-case.ts';
import { localWorld } from './worlds.ts';

describe('the local API server answers as the real one did:', () => {
  const accepted = new Accepted(deviations);
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer({ clock: realClock });
    for (const definition of definitions) {
      await fetch(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(definition),
      });
    }
  });
  afterAll(() => server.close());

  for (const [group, cases] of Object.entries(groups)) {
    describe(group, async () => {
      const recording = await readRecording(group);
      test('every case is recorded, and nothing else', () => {
        expect(Object.keys(recording).sort()).toEqual(cases.map(({ name }) => name).sort());
      });
      for (const each of cases) {
        // A watch mostly waits. What forgets the history would end the watches beside it.
        const concurrent = group === 'watch' && each.steps.every(({ afterCompaction }) => !afterCompaction);
        test(each.name, { concurrent }, async () => {
          const found = await runCase(localWorld(server), each);
          expect(accepted.refused(each.name, differences(recording[each.name], found))).toEqual([]);
        });
      }
    });
  }

  test('each listed deviation is still one', () => expect(accepted.unused()).toEqual([]));
});
