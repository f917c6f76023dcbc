import { giveAccount } from '../../../deploy/local/openstack/account.ts';
import { runStory, serveImages } from '../../stories/openstack/run.ts';
import { simulated } from '../../stories/openstack/services.ts';
import type { OpenStackStory } from '../../stories/openstack/world.ts';
import type { Story } from '../../stories/world.ts';

/** The story as one on a cluster of its own, beside a simulated OpenStack of its own. */
export const onOpenStack = (story: OpenStackStory): Story => ({
  name: story.name,
  provesPermissions: story.provesPermissions,
  simulators: false,
  local: { openStack: true },
  policy: { serverRecoverAfter: '1s', unreachableHostRecoverAfter: '1s', retryBackoffDuration: '1s' },
  async run({ kube }) {
    const [openStack, images] = await Promise.all([simulated({ speed: 30 }), serveImages()]);
    try {
      await giveAccount(kube, openStack.login);
      await runStory(story, { cluster: { kube }, openStack, images });
    } finally {
      await images.close();
      await openStack.close();
    }
  },
});
