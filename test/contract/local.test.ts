import { afterAll, beforeAll, describe, test } from 'vitest';
import { type ApiServer, startApiServer } from '../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../deploy/local/clock.ts';
import { widgetDefinition } from './case.ts';
import { cases } from './cases.ts';
import { runCase } from './run-case.ts';

describe('the local API server answers as a real one does:', () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer({ clock: realClock });
    await fetch(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(widgetDefinition),
    });
  });
  afterAll(() => server.close());

  for (const each of cases) {
    const name = each.notLocal ? `${each.name} (not here: ${each.notLocal})` : each.name;
    test.skipIf(each.notLocal)(name, { concurrent: false }, () => runCase(server.url, each));
  }
});
