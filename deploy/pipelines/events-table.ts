import { facts } from '../../shared/events.ts';
import { markdownTable } from '../generate/markdown-table.ts';
import { eventSchema } from '../production/event-schema.ts';

const schemas = Object.entries(facts).map(([type, schema]) => eventSchema(type, schema));

/** What each event means and has in its data, for those who subscribe. */
export const eventsTable = () =>
  markdownTable(
    ['type', 'meaning', 'data'],
    schemas.map(({ title, description, properties }) => [
      `\`${title}\``,
      description,
      Object.keys(properties)
        .map((field) => `\`${field}\``)
        .join(' '),
    ]),
  );

/** What each field of an event's data holds. */
export const fieldsTable = () =>
  markdownTable(
    ['field', 'holds'],
    [...new Map(schemas.flatMap(({ properties }) => Object.entries(properties)))].map(([field, { description }]) => [
      `\`${field}\``,
      description,
    ]),
  );
