import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fluxOf, healthCheckExprs } from './flux.ts';
import { states } from './states.ts';

const readme = await readFile(new URL('../../../deploy/production/README.md', import.meta.url), 'utf8');

test.each(healthCheckExprs)("Flux's expressions for $kind tell every state", (health) => {
  const found = states.map(({ state, image }) => [state, fluxOf(health, image)]);
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
