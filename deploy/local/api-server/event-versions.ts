import { builtInColumns } from './built-in-columns.ts';
import { builtInSchema } from './built-in-schema.ts';
import { eventRules } from './core-rules.ts';
import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import type { ApiObject, JsonObject } from './objects.ts';
import { invalid, required } from './schema-cause.ts';

/** The fields of an Event by their names in core/v1 and in events.k8s.io/v1, where they differ. */
const renamed: [core: string, newer: string][] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

const withNames = (event: ApiObject, names: [from: string, to: string][], apiVersion: string): ApiObject => {
  const nameOf = new Map(names);
  const fields = Object.entries(event).map(([name, value]) => [nameOf.get(name) ?? name, value]);
  return { ...Object.fromEntries(fields), apiVersion } as ApiObject;
};

const asCore = (event: ApiObject) =>
  withNames(
    event,
    renamed.map(([core, newer]) => [newer, core]),
    'v1',
  );

/** The newer version omits the reporting controller if it is not set. */
function asNewer(event: ApiObject): ApiObject {
  const shown = withNames(event, renamed, 'events.k8s.io/v1');
  const empty = ['reportingController', 'reportingInstance'].filter((field) => shown[field] === '');
  return Object.fromEntries(Object.entries(shown).filter(([field]) => !empty.includes(field))) as ApiObject;
}

const absent: JsonObject = { eventTime: null, deprecatedSource: {} };
const complete = (event: ApiObject) =>
  fillIn(event, { ...absent, deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null });

/** Events as events.k8s.io/v1 shows them: the same objects as core/v1's, with other names for some fields. */
export const newerEvents: Partial<Kind> & Pick<Kind, 'kind' | 'plural'> = {
  group: 'events.k8s.io',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  createsOnUpdate: true,
  selectableFields: ['reason', 'reportingController', 'regarding.kind', 'regarding.namespace', 'regarding.name'].concat(
    ['regarding.uid', 'regarding.apiVersion', 'regarding.resourceVersion', 'regarding.fieldPath', 'type'],
  ),
  ...builtInSchema('Event', 'Events'),
  columns: builtInColumns('Event').map((column) => ({
    ...column,
    cell: (event, nowMs) => column.cell(asCore(event), nowMs),
  })),
  keptAs: { group: '', plural: 'events', kept: asCore, shown: asNewer },
  prepareForCreate: complete,
  prepareForUpdate: complete,
  validate: (event, old) => [
    ...(eventRules.validate?.(asCore(event), old && asCore(old)) ?? []),
    ...(old || event.eventTime ? [] : [required('eventTime')]),
    ...(old || event.type === 'Normal' || event.type === 'Warning'
      ? []
      : [invalid('type', event.type ?? '', `has invalid value: ${event.type ?? ''}`)]),
  ],
};
