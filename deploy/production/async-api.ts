import type * as z from 'zod';
import { facts, imagePublished, schemas } from '../../shared/events.ts';
import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import { eventSchema } from './event-schema.ts';

const channel = '#/channels/broker';
const refs = (types: readonly string[]) => types.map((type) => ({ $ref: `${channel}/messages/${type}` }));

/** All events at the public Broker as an AsyncAPI 3.0 document, for portals and generators of clients. */
export function asyncApi() {
  const messages = Object.entries(schemas).map(([type, schema]) => [type, messageOf(type, schema)] as const);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Events of ot-functions',
      version: '0.1.0',
      description:
        'CloudEvents 1.0. Delivery is at least once, in any order: an event with an id that was seen before is a duplicate. The objects are the truth.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      broker: {
        address: `/${operatorNamespace}/${publicBroker}`,
        title: `Broker ${publicBroker} in namespace ${operatorNamespace}`,
        description: 'Receive by a Trigger in the namespace of the Broker; send by an HTTP POST to its address.',
        messages: Object.fromEntries(messages.map(([type]) => [type, { $ref: `#/components/messages/${type}` }])),
      },
    },
    operations: {
      publishFacts: { action: 'send', channel: { $ref: channel }, messages: refs(Object.keys(facts)) },
      takePublications: { action: 'receive', channel: { $ref: channel }, messages: refs([imagePublished]) },
    },
    components: { messages: Object.fromEntries(messages) },
  };
}

function messageOf(type: string, schema: z.ZodType) {
  // AsyncAPI's own dialect is draft 7.
  const { $schema: _, ...payload } = eventSchema(type, schema, 'draft-7');
  return {
    name: type,
    title: type,
    summary: payload.description,
    contentType: 'application/json',
    headers: headersOf(type, payload.$id),
    payload,
  };
}

/** The attributes as a Broker delivers them: CloudEvents over HTTP, binary mode. */
function headersOf(type: string, dataschema: string) {
  const text = { type: 'string' };
  const yesOrNo = { type: 'string', enum: ['true', 'false'] };
  const ofImages = { 'ce-counted': yesOrNo, 'ce-named': yesOrNo };
  const ofFacts = {
    'ce-subject': { ...text, description: '`namespace/name` of the object, or its name' },
    'ce-dataschema': { type: 'string', const: dataschema },
    ...(type.startsWith('ot.pelotech.disk-image.') ? ofImages : {}),
  };
  return {
    type: 'object',
    required: ['ce-specversion', 'ce-id', 'ce-source', 'ce-type'],
    properties: {
      'ce-specversion': { type: 'string', const: '1.0' },
      'ce-id': text,
      'ce-source': text,
      'ce-type': { type: 'string', const: type },
      ...(type in facts ? ofFacts : {}),
    },
  };
}
