import { openStackFolders, readManifests } from '../../deploy/manifests.ts';
import { grantedRules } from '../proofs/permissions/granted.ts';
import { onOpenStack } from '../proofs/permissions/on-open-stack.ts';
import { proveNeeded } from '../proofs/permissions/prove-needed.ts';
import { withoutTimers } from '../proofs/permissions/story-run.ts';
import { stories as credentials } from '../stories/openstack/credentials.ts';
import { stories as events } from '../stories/openstack/events.ts';
import { dropsAllButTimers } from '../stories/subscriptions.ts';
import type { Story } from '../stories/world.ts';

/** Nothing but the audit wakes a function. */
const byAuditAlone = (story: Story): Story => ({
  ...story,
  name: `${story.name}, with every event dropped`,
  local: { ...story.local, ...dropsAllButTimers, schedules: { sweep: '0 0 1 1 *', audit: '* * * * * *' } },
});

const stories = [...events, ...credentials]
  .filter(({ provesPermissions }) => provesPermissions)
  .map(onOpenStack)
  .flatMap((story) => (story.provesPermissions?.byTimers ? [story] : [withoutTimers(story), byAuditAlone(story)]));

const granted = grantedRules(await readManifests(...openStackFolders));

proveNeeded('what ServiceAccounts are granted for OpenStack', { stories, granted });
