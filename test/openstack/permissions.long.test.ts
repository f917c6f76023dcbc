import { openStackFolders, readManifests } from '../../deploy/manifests.ts';
import { grantedRules, inWords } from '../proofs/permissions/granted.ts';
import { onOpenStack } from '../proofs/permissions/on-open-stack.ts';
import { proveNeeded } from '../proofs/permissions/prove-needed.ts';
import { withoutTimers } from '../proofs/permissions/story-run.ts';
import { stories as changes } from '../stories/openstack/changes.ts';
import { stories as credentials } from '../stories/openstack/credentials.ts';
import { stories as events } from '../stories/openstack/events.ts';
import { dropsAllButTimers } from '../stories/subscriptions.ts';
import type { Story } from '../stories/world.ts';

/** Nothing but that timer wakes a function. */
const byTimerAlone = (timer: 'sweep' | 'audit', story: Story): Story => ({
  ...story,
  name: `${story.name}, with every event dropped but those of the ${timer}`,
  local: {
    ...story.local,
    ...dropsAllButTimers,
    schedules: { sweep: '0 0 1 1 *', audit: '0 0 1 1 *', [timer]: '* * * * * *' },
  },
});

const stories = [...events, ...changes, ...credentials]
  .filter(({ provesPermissions }) => provesPermissions)
  .map(onOpenStack)
  .flatMap((story) => {
    const { byTimers, alsoBy = [] } = story.provesPermissions ?? {};
    return byTimers ? [story] : [withoutTimers(story), ...alsoBy.map((timer) => byTimerAlone(timer, story))];
  });

/** Without it everything works, at a higher price: proven in functions/provision-server/index.test.ts. */
const forItsCost = ['provision-server watch virtualmachines.kupenstack.io'];

const granted = grantedRules(await readManifests(...openStackFolders)).filter(
  (rule) => !forItsCost.includes(inWords(rule)),
);

proveNeeded('what ServiceAccounts are granted for OpenStack', { stories, granted });
