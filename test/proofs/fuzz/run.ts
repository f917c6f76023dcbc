import { imagePublished } from '../../../shared/events.ts';
import { defineResource } from '../../../shared/kinds/resource.ts';
import { ApiError, NoAnswer } from '../../../shared/runtime/errors.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { signed } from '../../support/builders/publications.ts';
import { pathsIn } from './arbitrary-of.ts';
import type { FuzzCluster, Observation } from './cluster.ts';
import { judged, type Violation } from './judges.ts';
import { authoredKinds, type Plan, placed, type Step } from './plan.ts';
import { Texts } from './yaml-faults.ts';

/** What became of the steps of a run. */
interface Taken {
  accepted: Record<string, number>;
  refused: Record<string, number>;
  /** Why, without what the author said, and how often. */
  refusals: Record<string, number>;
  /** The fields that accepted objects had, with their kind in front. */
  fields: Set<string>;
}

/** A run: its steps, what happened, and what of that must not. */
export interface Ran extends Taken {
  violations: Violation[];
  observation: Observation;
}

const resources = new Map([...authoredKinds].map(([id, kind]) => [id, defineResource({ ...kind }, {})] as const));

function resourceOf({ kind }: { kind: string }) {
  const resource = resources.get(kind);
  if (!resource) throw new Error(`expected a kind that the project defines, found ${kind}`);
  return resource;
}

const refOf = (step: { kind: string; name: string }, namespace: string) => ({
  name: step.name,
  ...(resourceOf(step).namespaced ? { namespace } : {}),
});

/** Runs plans on one cluster, each as an author of its own. */
export class Runner {
  readonly #cluster: FuzzCluster;
  readonly #texts = new Texts();
  #runs = 0;

  constructor(cluster: FuzzCluster) {
    this.#cluster = cluster;
  }

  async run(plan: Plan): Promise<Ran> {
    const prefix = `tenant-${++this.#runs}x`;
    const author = await this.#cluster.author(prefix);
    const steps = placed(plan, prefix);
    this.#texts.add(steps);
    const ran: Taken = { accepted: {}, refused: {}, refusals: {}, fields: new Set() };
    for (const step of steps) await this.#take(author, prefix, step, ran);
    await this.#cluster.settled(4000);
    for (const step of steps) {
      if (step.do !== 'create') continue;
      await author.delete(resourceOf(step), refOf(step, prefix)).catch(() => undefined);
    }
    await this.#cluster.settled(4000);
    const observation = await this.#cluster.observed();
    const own = { prefix: 'tenant' };
    const violations = judged(observation, { own, secrets: this.#cluster.secrets, texts: this.#texts });
    return { ...ran, observation, violations };
  }

  async #take(author: Kube, namespace: string, step: Step, ran: Taken): Promise<void> {
    if (step.do === 'wait') return this.#cluster.settled(3000);
    if (step.do === 'publish') return this.#publish(step, ran);
    const resource = resourceOf(step);
    const ref = refOf(step, namespace);
    const count = (what: 'accepted' | 'refused') => {
      const key = `${step.do} ${step.kind}`;
      ran[what][key] = (ran[what][key] ?? 0) + 1;
    };
    try {
      if (step.do === 'delete') await author.delete(resource, ref);
      else if (step.do === 'annotate') await author.patch(resource, ref, { metadata: step.metadata });
      else if (step.do === 'update')
        await author.patch(resource, ref, { metadata: step.content.metadata, spec: step.content.spec });
      else
        await author.create(resource, {
          apiVersion: resource.apiVersion,
          kind: resource.kind,
          ...step.content,
          metadata: { ...step.content.metadata, ...ref },
        });
      count('accepted');
      if ('content' in step) for (const path of pathsIn(step.content.spec)) ran.fields.add(`${step.kind}${path}`);
    } catch (error) {
      // Nothing to change or delete is no refusal, and neither is what exists already, or an API server that is busy.
      if (error instanceof NoAnswer) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 409) return;
      count('refused');
      const why = `${step.kind}: ${error.status} ${error.message.replace(/"[^"]*"|\d+/g, '…').slice(0, 200)}`;
      ran.refusals[why] = (ran.refusals[why] ?? 0) + 1;
    }
  }

  async #publish({ data, isSigned }: Step & { do: 'publish' }, ran: Taken) {
    const attributes: Record<string, string> = {
      ...{ specversion: '1.0', id: crypto.randomUUID(), source: '/fuzz', type: imagePublished },
      ...(isSigned ? signed(data, { id: crypto.randomUUID(), atMs: Math.floor(Date.now() / 1000) * 1000 }) : {}),
    };
    const headers = Object.entries(attributes).map(([key, value]): [string, string] => [`ce-${key}`, value]);
    const response = await fetch(this.#cluster.broker, {
      method: 'POST',
      headers: [...headers, ['content-type', 'application/json']],
      body: JSON.stringify(data),
    });
    await response.arrayBuffer();
    const what = response.ok ? 'accepted' : 'refused';
    ran[what].publish = (ran[what].publish ?? 0) + 1;
  }
}
