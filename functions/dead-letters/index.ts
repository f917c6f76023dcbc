import { defineFunction, on } from '../../shared/function.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Broker } from '../../shared/kinds/eventing/broker.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import { decide, type Observed } from './decide.ts';
import { gather } from './gather.ts';

/** Counts the events that no function accepted, and reports them on the Trigger of the function that failed. */
export default defineFunction<Observed>({
  name: 'dead-letters',
  on: [on.deadLetter()],
  may: [
    { resource: Trigger, verbs: ['list'], namespace: 'own' },
    { resource: Broker, verbs: ['get'], namespace: 'own' },
    { resource: Event, verbs: ['get', 'create', 'patch'], namespace: 'own' },
  ],
  scale: 'zero',
  observe: gather,
  decide,
});
