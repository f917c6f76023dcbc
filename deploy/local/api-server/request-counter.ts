import type { ResourceTarget } from './request-target.ts';

/** Counts answered requests, so that tests and the bench can say what something cost and who paid. */
export class RequestCounter {
  readonly #counts = new Map<string, number>();

  count(user: string, verb: string, what: string, status: number) {
    const key = `${user} ${verb} ${what} ${Math.floor(status / 100)}xx`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The counts so far by `user verb resource.group/subresource 2xx`, such as `kubernetes-admin patch leases.coordination.k8s.io 4xx`. */
  counts(): Map<string, number> {
    return new Map(this.#counts);
  }
}

/** A target in a counter's words: `pods/status`, `leases.coordination.k8s.io`. */
export const targetInWords = ({ plural, group, subresource }: ResourceTarget) =>
  `${plural}${group && `.${group}`}${subresource && `/${subresource}`}`;
