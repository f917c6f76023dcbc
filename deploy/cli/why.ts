import { Event } from '../../shared/kinds/core/event.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { oneLine } from '../../shared/sentence.ts';
import { formatSpan } from './age.ts';
import type { Body } from './command.ts';
import { namespaceOptions } from './help.ts';
import { type KubernetesEvent, timeOf } from './kubernetes-event.ts';
import { completeNamed } from './names.ts';
import { readQueue } from './queue.ts';
import { queueOf } from './queue-view.ts';
import { awaitedSecretOf, secretsAt } from './secrets.ts';
import { codeOf, stateOf } from './state.ts';
import { findTarget, listEverywhere, listIfAny, type OnOpenStack, readNamed, type Target } from './target.ts';
import { whyLines, whyOf } from './why-view.ts';

/** Finds the first cause of an object's state. */
export const why: Body = {
  words: 'KIND/NAME',
  options: namespaceOptions,
  details: [
    'From a workspace to its component, from a machine to its image, from an image to the queue, the policy or its source; on',
    'OpenStack from a machine to its networks and volumes, and to the credentials.',
    'Exit codes: 0 Ready or Hibernated · 1 Failed · 5 neither.',
  ],
  examples: ['why ubuntu', 'why workspace/demo-workspace-1', 'why machine ubuntu-1 -n default'],
  complete: completeNamed,
  run: async ({ cluster, words, namespace, nowMs }) => {
    const reached = await cluster();
    const { kube } = reached;
    const target = await findTarget(reached, readNamed(words, namespace));
    const where = { ...(target.metadata.namespace ? { namespace: target.metadata.namespace } : {}) };
    const [queue, machines, networks, volumes] = await Promise.all([
      readQueue(kube),
      listEverywhere<VirtualMachine>(kube, 'machine'),
      listIfAny<OnOpenStack>(kube, 'virtualnetwork', where),
      listIfAny<OnOpenStack>(kube, 'volume', where),
    ]);
    const parts = [...networks, ...volumes];
    const secrets = await secretsAt(kube, queue.images.flatMap(awaitedSecretOf));
    const { images, policy } = queue;
    const known = { machines, images, parts, secrets, policy, queue: queueOf(queue, nowMs), nowMs };
    const cause = whyOf(target, known);
    const events = await warningsOf(kube, cause.at, nowMs);
    const { steps, help, commands } = cause;
    return {
      lines: whyLines(cause, events),
      json: { steps, help, commands, warnings: events },
      code: codeOf([stateOf(target)]),
    };
  },
};

/** The last Warnings about an object; empty if the user may not read Events. */
async function warningsOf(kube: Kube, { metadata }: Target, nowMs: number): Promise<string[]> {
  try {
    const found = await kube.list(Event, {
      namespace: metadata.namespace ?? 'default',
      fieldSelector: `involvedObject.name=${metadata.name}`,
    });
    return (found as unknown as KubernetesEvent[])
      .map((event) => ({ ...event, at: timeOf(event) }))
      .filter(({ type, involvedObject }) => type === 'Warning' && involvedObject?.uid === metadata.uid)
      .sort((a, b) => a.at.localeCompare(b.at))
      .slice(-3)
      .map(
        ({ at, reason = '', message = '' }) =>
          `${formatSpan(nowMs - Date.parse(at))} ago ${oneLine(`${reason}: ${message}`)}`,
      );
  } catch (error) {
    if (hasStatus(error, 403)) return [];
    throw error;
  }
}
