import type { ResourceTarget } from './request-target.ts';

/** Counts answered requests, so that tests and the bench can say what something cost and who paid. */
export class RequestCounter {
  readonly #counts = new Map<string, number>();

  count(user: string, verb: string, what: string, status: number) {
    const key = `${user} ${verb} ${what} ${status}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The counts so far by `user verb resource.group/subresource 200`, such as `kubernetes-admin patch leases.coordination.k8s.io 409`. */
  byStatus(): Map<string, number> {
    return new Map(this.#counts);
  }

  /** The same by class of status: `kubernetes-admin patch leases.coordination.k8s.io 4xx`. */
  counts(): Map<string, number> {
    const classes = new Map<string, number>();
    for (const [key, count] of this.#counts) {
      const ofClass = key.replace(/(\d)\d\d$/, '$1xx');
      classes.set(ofClass, (classes.get(ofClass) ?? 0) + count);
    }
    return classes;
  }
}

/** A target in a counter's words: `pods/status`, `leases.coordination.k8s.io`. */
export const targetInWords = ({ plural, group, subresource }: ResourceTarget) =>
  `${plural}${group && `.${group}`}${subresource && `/${subresource}`}`;
