/** The part of a Kubernetes LabelSelector that subscriptions need. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>>;
  matchExpressions?: readonly { key: string; operator: 'Exists' }[];
}

/** Every object with the label, whatever its value. */
export const withLabel = (key: string): LabelSelector => ({ matchExpressions: [{ key, operator: 'Exists' }] });

/** `app=x,tier=y`: all of these labels. */
export const labelSelector = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** `key in (a,b)`: one of these values. */
export const isIn = (key: string, values: readonly string[]) => `${key} in (${[...new Set(values)].join(',')})`;
