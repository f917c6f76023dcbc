import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../../shared/kinds/resource.ts';
import type { Kube, ListOptions } from '../../../shared/runtime/kube.ts';
import { type Change, readScenario } from './scenarios.ts';

/** The objects that a reconcile reads besides the recording: the image with the status written so far, and the policy. */
export type Given = readonly { resource: Resource; object: KubernetesObject }[];

/** The number of writes of the recording after which reads of a kind see its objects. */
export type AsOf = (resource: Resource) => number;

/** The longest time between two reads of a reconcile, on a busy machine. */
const widestGapMs = 5_000;

/** A scenario, and its objects as a reader would have seen them at each moment. */
export class Recording {
  readonly changes: readonly Change[];
  #parsed = new Map<Change, KubernetesObject>();
  #states = new Map<string, readonly Change[]>();

  constructor(name: string) {
    this.changes = readScenario(name);
  }

  /** The time of the write of that number, counted from 1. */
  msAt(number: number): number {
    return Date.parse(this.changes[number - 1]?.at ?? '');
  }

  /** The pairs of these moments that are close enough for the reads of one reconcile. */
  *pairs(moments: readonly number[]): Generator<readonly [number, number]> {
    for (const [index, first] of moments.entries()) {
      for (const second of moments.slice(index)) {
        if (this.msAt(second) - this.msAt(first) > widestGapMs) break;
        yield [first, second];
      }
    }
  }

  /** An API server that serves reads only. */
  reader(asOf: AsOf, given: Given): Pick<Kube, 'get' | 'list' | 'pages'> {
    const all = <T extends KubernetesObject>(resource: Resource<T>): T[] => [
      ...given.filter((one) => isOf(one.resource, resource)).map(({ object }) => object as T),
      ...this.state(resource, asOf(resource)),
    ];
    const list = async <T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}) =>
      all(resource).filter((object) => isSelected(object, options));
    return {
      list,
      get: async (resource, ref: ObjectReference) =>
        all(resource).find(({ metadata }) => keyOf(metadata) === keyOf(ref)),
      async *pages(resource, options) {
        yield { items: await list(resource, options), resourceVersion: '0' };
      },
    };
  }

  /** The objects of a kind after the first `count` writes. */
  state<T extends KubernetesObject>(resource: Resource<T>, count: number): T[] {
    return this.#last(resource, count).map((change) => {
      const parsed = this.#parsed.get(change) ?? resource.parse(change.object);
      this.#parsed.set(change, parsed);
      return parsed as T;
    });
  }

  #last(resource: Resource, count: number): readonly Change[] {
    const key = `${resource.apiVersion} ${resource.kind} ${count}`;
    const known = this.#states.get(key);
    if (known) return known;
    const newest = new Map<string, Change>();
    for (const change of this.changes.slice(0, count)) {
      if (!isOf(change.object, resource)) continue;
      if (change.type === 'DELETED') newest.delete(keyOf(change.object.metadata));
      else newest.set(keyOf(change.object.metadata), change);
    }
    const found = [...newest.values()];
    this.#states.set(key, found);
    return found;
  }
}

type Kind = { apiVersion: string; kind: string };
const isOf = (one: Kind, other: Kind) => one.kind === other.kind && one.apiVersion === other.apiVersion;

function isSelected(
  object: KubernetesObject,
  { namespace, labelSelector = '', fieldSelector = '' }: ListOptions,
): boolean {
  const { metadata } = object;
  return (
    (namespace === undefined || namespace === metadata.namespace) &&
    hasLabel(metadata.labels ?? {}, labelSelector) &&
    fieldSelector.split(',').every((one) => hasField(object, one))
  );
}

/** `key in (a,b)` and `key` are what functions select labels by. */
function hasLabel(labels: Readonly<Record<string, string>>, selector: string) {
  const [, key = '', values] = /^(\S*)(?: in \((.*)\))?$/.exec(selector) ?? [];
  if (key === '' && selector !== '') throw new Error(`expected a label selector "key in (a,b)", found ${selector}`);
  return key === '' || (values === undefined ? key in labels : values.split(',').includes(labels[key] ?? ''));
}

/** `status.phase=x` and `status.phase!=x`. */
function hasField(object: unknown, selector: string) {
  const [, path = '', sign, value] = /^([\w.]+)(!?=)(.*)$/.exec(selector) ?? [];
  const found = path.split('.').reduce((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], object);
  return path === '' || ((found ?? '') === value) === (sign === '=');
}
