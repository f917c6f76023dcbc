import { setTimeout as sleep } from 'node:timers/promises';
import { type FunctionDeclaration, type Message, noEvents } from '../../shared/function.ts';
import { namespaceFor } from '../../shared/images/published-image.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { backgroundWork } from '../../shared/runtime/background.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { reconcile } from '../../shared/runtime/reconcile.ts';
import type { Telemetry } from '../../shared/runtime/telemetry/telemetry.ts';
import { progressOf } from '../cli/progress.ts';
import type { FindImage, Images, MakeImage } from './app.ts';
import { Refusal } from './refusal.ts';

/**
 * Makes images by the rule of a function that takes publications, and as that function, and finds them. `make` throws a Refusal: 422 in
 * the words of its Warning, 503 where trying again may help. `drain` resolves when its Events are recorded.
 */
export function imageMaker(
  declaration: FunctionDeclaration,
  { kube, telemetry }: { kube: Kube; telemetry: Telemetry },
): Images & { drain(): Promise<void> } {
  const background = backgroundWork();
  const ports = {
    kube,
    telemetry,
    now: Date.now,
    pause: (milliseconds: number) => sleep(milliseconds),
    random: Math.random,
    publisher: { publish: () => undefined, republish: () => undefined },
  };
  const make: MakeImage = async ({ id, type, source, atMs, traceparent, data }) => {
    const message: Message = { id, type, source, time: new Date(atMs).toISOString(), data };
    let warning: string | undefined;
    const decide = (observed: unknown) => {
      const actions = declaration.decide(observed);
      // Of several tries the last counts.
      warning = actions.find((action) => action.do === 'recordEvent')?.message;
      return actions;
    };
    const batch = { ...noEvents, messages: [message] };
    const reconciler = {
      declaration: { ...declaration, decide },
      ports,
      background,
      republish: async () => undefined,
      requeueAfter: () => undefined,
    };
    const origins = { traces: traceparent === undefined ? [] : [traceparent], attributes: {} };
    const verdict = await reconcile(reconciler, batch, origins).catch((error: unknown) => async () => error);
    const error = await verdict(batch);
    if (error !== undefined) throw new Refusal(503, 'the image cannot be made just now; try again', String(error));
    if (warning !== undefined) throw new Refusal(422, warning);
  };
  const find: FindImage = async (named) => {
    const policy = await readPolicy(kube);
    const namespace = namespaceFor(named, policy);
    if (!policy.values.imageNamespaces.includes(namespace)) return undefined;
    const image = await kube.get(VMDiskImage, { namespace, name: named.name });
    if (!image) return undefined;
    const { phase, end, message } = progressOf(image);
    return { namespace, name: named.name, phase, ...(end ? { end } : {}), message };
  };
  return { make, find, drain: background.drain };
}
