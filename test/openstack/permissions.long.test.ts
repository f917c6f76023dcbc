import { openStackFolders, readManifests } from '../../deploy/manifests.ts';
import { grantedRules } from '../proofs/permissions/granted.ts';
import { named } from '../proofs/permissions/named.ts';
import { onOpenStack } from '../proofs/permissions/on-open-stack.ts';
import { proveNeeded } from '../proofs/permissions/prove-needed.ts';
import { withoutTimers } from '../proofs/permissions/story-run.ts';
import { stories as credentials } from '../stories/openstack/credentials.ts';
import { stories as events } from '../stories/openstack/events.ts';
import type { OpenStackStory } from '../stories/openstack/world.ts';
import { dropsAllButTimers } from '../stories/subscriptions.ts';
import type { Story } from '../stories/world.ts';

const storyOf = (stories: readonly OpenStackStory[], name: RegExp) => named(stories.map(onOpenStack), name);

/** Nothing but the audit wakes a function. */
const byAuditAlone = (story: Story): Story => ({
  ...story,
  name: `${story.name}, with every event dropped`,
  local: { ...story.local, ...dropsAllButTimers, schedules: { sweep: '0 0 1 1 *', audit: '* * * * * *' } },
});

/** The quickest first: of those that use a rule they are tried in this order. */
const stories = [
  withoutTimers(storyOf(events, /tell so in an Event each/)),
  withoutTimers(storyOf(credentials, /keeps the account of its namespace/)),
  byAuditAlone(storyOf(events, /tell so in an Event each/)),
  byAuditAlone(storyOf(credentials, /keeps the account of its namespace/)),
  storyOf(credentials, /^a namespace with nothing but a network/),
];

const granted = grantedRules(await readManifests(...openStackFolders));

proveNeeded('what ServiceAccounts are granted for OpenStack', { stories, tellers: {}, granted });
