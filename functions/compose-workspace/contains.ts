import { amountOf } from '../../shared/kubernetes/quantity.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether the found object has all wanted fields: the API server and other controllers add fields, omit empty ones, and write
 * quantities in their own way. Lists have to be of the same length; an empty list equals none.
 */
export function contains(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    const list = Array.isArray(found) ? found : [];
    return list.length === wanted.length && wanted.every((one, index) => contains(list[index], one));
  }
  if (isFields(wanted)) {
    const object = isFields(found) ? found : {};
    return Object.entries(wanted).every(([key, value]) => {
      if (quantities.has(key) && isFields(value)) return areSameAmounts(object[key], value);
      if (value === false && trueIfAbsent.has(key) && object[key] === undefined) return false;
      return contains(object[key], value) && (!choosing.has(key) || !saysMore(object[key], value));
    });
  }
  return found === wanted || (found === undefined && saysNothing.has(wanted));
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Fields that hold amounts, "2048Mi" is kept as "2Gi". */
const quantities = new Set(['requests', 'limits']);

/** Fields that select: an additional key selects something else. */
const choosing = new Set(['selector', 'podSelector', 'nodeSelector']);

const saysMore = (found: unknown, wanted: unknown) =>
  isFields(found) && Object.keys(found).some((key) => !isFields(wanted) || !(key in wanted));

const areSameAmounts = (found: unknown, wanted: Fields) =>
  Object.entries(wanted).every(([key, value]) => {
    const other = isFields(found) ? found[key] : undefined;
    return other === value || (other !== undefined && amountOf(String(other)) === amountOf(String(value)));
  });

/** Fields of a Pod that Kubernetes takes for true if no one wrote them. */
const trueIfAbsent = new Set(['allowPrivilegeEscalation', 'automountServiceAccountToken', 'enableServiceLinks']);

const saysNothing = new Set<unknown>([undefined, false, '', 0]);
