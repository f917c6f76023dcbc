import { beforeAll, describe, test } from 'vitest';
import { widgetDefinition } from './case.ts';
import { cases } from './cases.ts';
import { runCase } from './run-case.ts';
describe('real', () => {
  const url = 'http://127.0.0.1:8001';
  beforeAll(async () => {
    await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(widgetDefinition) });
    await new Promise((r) => setTimeout(r, 3000));
  });
  for (const each of cases) test(each.name, { timeout: 60000 }, () => runCase(url, each));
});
