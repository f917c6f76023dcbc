import { readFile } from 'node:fs/promises';
import { evaluate } from '@marcbachmann/cel-js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { states } from './states.ts';

const read = (path: string) => readFile(new URL(`../../../deploy/production/${path}`, import.meta.url), 'utf8');

interface Health {
  kind: string;
  inProgress: string;
  failed: string;
  current: string;
}
const { spec } = parse(await read('health/flux.yaml'), { merge: true }) as { spec: { healthCheckExprs: Health[] } };
const readme = await read('README.md');

test.each(spec.healthCheckExprs)("Flux's expressions for $kind tell every state", ({ inProgress, failed, current }) => {
  // In this order, as kustomize-controller asks.
  const fluxOf = (image: object) => {
    if (evaluate(inProgress, image)) return 'InProgress';
    if (evaluate(failed, image)) return 'Failed';
    return evaluate(current, image) ? 'Current' : 'InProgress';
  };
  // As the API server has them: without the fields that are undefined.
  const found = states.map(({ state, image }) => [state, fluxOf(JSON.parse(JSON.stringify(image)))]);
  expect(found).toEqual(states.map(({ state, flux }) => [state, flux]));
});

test.each(states)(
  'the README says what an image that is $state looks like',
  ({ state, kubectl, kstatus, flux, argo, image }) => {
    expect(kubectl.split(' ')[0]).toBe(image.status?.phase ?? '');
    expect(readme).toContain(
      `| ${state} | ${kubectl && `\`${kubectl}\``} | ${kstatus} | ${flux} | ${argo} |`.replace('|  |', '| |'),
    );
  },
);
