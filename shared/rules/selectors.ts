/** `app=x,tier=y`: all of these labels. */
export const labelSelector = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** `key in (a,b)`: one of these values. */
export const isIn = (key: string, values: readonly string[]) => `${key} in (${[...new Set(values)].join(',')})`;
