import { type Case, type Cases, widgetDefinition } from './case.ts';
import { applyCases } from './cases-apply.ts';
import { moreApplyCases } from './cases-apply-more.ts';
import { deleteCases } from './cases-delete.ts';
import { discoveryCases } from './cases-discovery.ts';
import { eventCases } from './cases-events.ts';
import { listCases } from './cases-list.ts';
import { objectCases } from './cases-object.ts';
import { patchCases } from './cases-patch.ts';
import { policyCases } from './cases-policy.ts';
import { rbacCases } from './cases-rbac.ts';
import { readCases } from './cases-read.ts';
import { reviewCases } from './cases-reviews.ts';
import { scaleCases } from './cases-scale.ts';
import { schemaCases } from './cases-schema.ts';
import { watchCases } from './cases-watch.ts';
import { moreWatchCases } from './cases-watch-more.ts';
import { workloadCases } from './cases-workloads.ts';
import { writeCases } from './cases-write.ts';
import { gadgetDefinition } from './gadget.ts';

/** The cases by the file that they are recorded in. */
const files: Record<string, Cases[]> = {
  write: [writeCases, objectCases],
  patch: [patchCases],
  apply: [applyCases, moreApplyCases],
  schema: [schemaCases],
  delete: [deleteCases],
  read: [readCases, listCases],
  watch: [watchCases, moreWatchCases],
  discovery: [discoveryCases],
  rbac: [rbacCases],
  reviews: [reviewCases],
  policy: [policyCases],
  workloads: [workloadCases],
  events: [eventCases],
  scale: [scaleCases],
};

const casesIn = (cases: Cases) => Object.entries(cases).map(([name, steps]): Case => ({ name, steps }));

/** What the project relies on from the API server, by the file it is recorded in. */
export const groups: Readonly<Record<string, readonly Case[]>> = Object.fromEntries(
  Object.entries(files).map(([file, cases]) => [file, cases.flatMap(casesIn)]),
);

/** The kinds that have to exist before. */
export const definitions = [widgetDefinition, gadgetDefinition];
