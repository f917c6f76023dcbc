import { test } from 'vitest';
import { onLocalCluster } from '../local-world.ts';
import { crowdOfMachines } from '../machine-crowd.ts';
import type { Story } from '../world.ts';

type Intercept = NonNullable<NonNullable<Story['local']>['intercept']>;

/**
 * What a function that dies leaves, at every thirtieth write of one, by turns: a write that was not carried out, and one
 * that was though nobody knows.
 */
function dyingFunctions(): Intercept {
  let writes = 0;
  return ({ method, path, user }) => {
    const isWrite =
      method !== 'GET' && user.startsWith('system:serviceaccount:sync-operator:') && !/\/events/.test(path);
    if (!isWrite || ++writes % 30 !== 0) return undefined;
    return writes % 60 === 0 ? { loseAnswer: true } : { status: 500 };
  };
}

const story = crowdOfMachines('two hundred machines on twenty images, while functions die between their writes', {
  local: { intercept: dyingFunctions() },
  withinMs: 240_000,
});

test(story.name, () => onLocalCluster(story), 300_000);
