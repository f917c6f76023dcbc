import { test } from 'vitest';
import { onLocalCluster } from '../local-world.ts';
import { manyMachines } from '../machine-scale.ts';
import type { Story } from '../world.ts';

type Intercept = NonNullable<NonNullable<Story['local']>['intercept']>;

/** The functions die at every thirtieth write: alternately before the API server carries it out, and after it but before its answer. */
function dyingFunctions(): Intercept {
  let writes = 0;
  return ({ method, path, user }) => {
    const isWrite =
      method !== 'GET' && user.startsWith('system:serviceaccount:sync-operator:') && !/\/events/.test(path);
    if (!isWrite || ++writes % 30 !== 0) return undefined;
    return writes % 60 === 0 ? { loseAnswer: true } : { status: 500 };
  };
}

const story = manyMachines('two hundred machines on twenty images, while functions die between their writes', {
  local: { intercept: dyingFunctions() },
  withinMs: 240_000,
});

test(story.name, () => onLocalCluster(story), 300_000);
