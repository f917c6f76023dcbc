import type { DeviationName } from '../../../../deploy/local/eventing/deviations.ts';
import { type EventHeaders, eventOf } from './event.ts';

/** The events that every Trigger of a filter case is offered, by name. */
export const offered = {
  widgetAdd: eventOf('thing.add', { 'ce-kind': 'Widget', 'ce-name': 'w1', 'ce-count': '3' }),
  widgetDelete: eventOf('thing.delete', { 'ce-kind': 'Widget', 'ce-name': 'w2' }),
  gadgetAdd: eventOf('thing.add', { 'ce-kind': 'Gadget', 'ce-name': 'w1' }),
  bare: eventOf('other', { 'ce-source': '/elsewhere', 'ce-subject': 'a/b' }),
  blank: eventOf('blank', { 'ce-kind': '', 'content-type': 'text/plain' }),
} as const satisfies Record<string, EventHeaders>;

type Offered = keyof typeof offered;

/** The filters of a Trigger and which of the offered events come through. */
export interface FilterCase {
  what: string;
  spec: object;
  passes: readonly Offered[];
  deviation?: DeviationName;
}

const all = Object.keys(offered) as Offered[];
const ofWidgets: readonly Offered[] = ['widgetAdd', 'widgetDelete'];
const widget = { exact: { kind: 'Widget' } };
const add = { exact: { type: 'thing.add' } };

export const filterCases: FilterCase[] = [
  { what: 'nothing', spec: {}, passes: all },
  { what: 'an empty list', spec: { filters: [] }, passes: all },
  { what: 'exact, on an extension', spec: { filters: [widget] }, passes: ofWidgets },
  { what: 'exact, in another case', spec: { filters: [{ exact: { kind: 'widget' } }] }, passes: [] },
  {
    what: 'exact, two attributes',
    spec: { filters: [{ exact: { kind: 'Widget', name: 'w1' } }] },
    passes: ['widgetAdd'],
  },
  { what: 'exact, on what none has', spec: { filters: [{ exact: { nobody: 'x' } }] }, passes: [] },
  { what: 'prefix', spec: { filters: [{ prefix: { type: 'thing.' } }] }, passes: [...ofWidgets, 'gadgetAdd'] },
  { what: 'prefix, on the source', spec: { filters: [{ prefix: { source: '/else' } }] }, passes: ['bare'] },
  { what: 'suffix', spec: { filters: [{ suffix: { type: '.add' } }] }, passes: ['widgetAdd', 'gadgetAdd'] },
  { what: 'suffix, on the subject', spec: { filters: [{ suffix: { subject: '/b' } }] }, passes: ['bare'] },
  { what: 'a list: all of it', spec: { filters: [widget, add] }, passes: ['widgetAdd'] },
  { what: 'all', spec: { filters: [{ all: [widget, add] }] }, passes: ['widgetAdd'] },
  { what: 'any', spec: { filters: [{ any: [widget, add] }] }, passes: [...ofWidgets, 'gadgetAdd'] },
  { what: 'not', spec: { filters: [{ not: widget }] }, passes: ['gadgetAdd', 'bare', 'blank'] },
  {
    what: 'any within all, and not',
    spec: { filters: [{ all: [{ any: [widget, { exact: { kind: 'Gadget' } }] }, { not: add }] }] },
    passes: ['widgetDelete'],
  },
  { what: 'exact with an empty value', spec: { filters: [{ exact: { type: '' } }] }, passes: all },
  { what: 'prefix with an empty value', spec: { filters: [{ prefix: { kind: '' } }] }, passes: all },
  {
    what: 'exact with an empty value, and another',
    spec: { filters: [{ exact: { type: '' } }, widget] },
    passes: ofWidgets,
  },
  {
    what: 'any with an empty value in it',
    spec: { filters: [{ any: [{ exact: { type: '' } }, widget] }] },
    passes: ofWidgets,
  },
  { what: 'any of nothing but an empty value', spec: { filters: [{ any: [{ exact: { type: '' } }] }] }, passes: all },
  { what: 'all of nothing but an empty value', spec: { filters: [{ all: [{ exact: { type: '' } }] }] }, passes: all },
  {
    what: 'filter.attributes',
    spec: { filter: { attributes: { kind: 'Widget', type: 'thing.add' } } },
    passes: ['widgetAdd'],
  },
  {
    what: 'filter.attributes with an empty value: is there',
    spec: { filter: { attributes: { name: '' } } },
    passes: [...ofWidgets, 'gadgetAdd'],
  },
  {
    what: 'filters over filter',
    spec: { filter: { attributes: { kind: 'Gadget' } }, filters: [widget] },
    passes: ofWidgets,
  },
  { what: 'datacontenttype', spec: { filters: [{ exact: { datacontenttype: 'text/plain' } }] }, passes: ['blank'] },
  { what: 'specversion', spec: { filters: [{ exact: { specversion: '1.0' } }] }, passes: all },
  {
    what: 'an empty extension, as if it were not there',
    spec: { filters: [{ not: { prefix: { kind: 'G' } } }] },
    passes: [...ofWidgets, 'bare', 'blank'],
  },
  {
    what: 'cesql',
    spec: { filters: [{ cesql: "kind = 'Widget' AND count = 3" }] },
    passes: ['widgetAdd'],
    deviation: 'cesql',
  },
];
