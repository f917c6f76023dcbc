import { deviations } from './deviations.ts';

/** The deviations from Knative Eventing as a Markdown table, for the README. */
export const eventingDeviations = () =>
  [
    '| Knative Eventing 1.20 | here | why that will do |',
    '| --- | --- | --- |',
    ...deviations.map(({ real, local, reason }) => `| ${real} | ${local} | ${reason} |`),
  ].join('\n');
