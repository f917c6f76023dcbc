/** Something the local eventing does otherwise than Knative Eventing 1.20, known and accepted. */
interface Deviation {
  name: string;
  /** What Knative does. */
  real: string;
  /** What happens here instead. */
  local: string;
  /** Why that is good enough. */
  reason: string;
}

/** Every accepted difference. The contract names those that a case of it asks for, and fails when one is no more. */
export const deviations = [
  {
    name: 'cesql',
    real: 'A Trigger may filter in CloudEvents SQL.',
    local: 'The API server refuses such a Trigger and says what to write instead.',
    reason: 'No function of ours uses it, and there is no implementation for Node.',
  },
  {
    name: 'unready-broker',
    real: 'A Broker whose channel cannot be made is not ready, and its ingress answers 500.',
    local: 'Every Broker is ready; `spec.config` is not read.',
    reason: 'There are no channels here that could fail.',
  },
  {
    name: 'crash-by-letter',
    real: 'A failure answered with more than 768 bytes crashes the dispatcher where there is a dead letter sink, and everything in flight in the cluster is lost.',
    local: 'Only that event is lost.',
    reason: 'That one event shows the fault; to ask the real one would take everything else with it.',
  },
  {
    name: 'crash-by-filter',
    real: 'A filter `not` around an empty value is accepted and crashes broker-filter, again and again while the Trigger is there.',
    local: 'It lets everything through.',
    reason: 'No generated filter has the form; to ask the real one would stop all events of its cluster.',
  },
  {
    name: 'ready-too-early',
    real: 'For seconds after Ready a Trigger may get nothing, while the sender hears 202.',
    local: 'A Trigger that is ready gets its events.',
    reason: 'Sweeps find what was missed; faults can drop events on demand.',
  },
  {
    name: 'lost-updates',
    real: 'Triggers that are deleted at the same time may leave subscribers behind that fail every event.',
    local: 'They are gone when they are gone.',
    reason: 'It comes by chance there, and is healed by whoever runs that cluster.',
  },
  {
    name: 'filter-hop',
    real: 'Every Trigger costs two more requests for every event, and its `timeout` holds for events it does not want, too.',
    local: 'Filtering takes no time.',
    reason: 'What it costs is measured by test/bench/eventing-cost.ts on a real cluster.',
  },
  {
    name: 'network',
    real: 'A Service by reference is found by its name in the cluster.',
    local: 'It leads to the function of that name in this process; everything else goes over HTTP.',
    reason: 'There is no network of a cluster here.',
  },
  {
    name: 'client-headers',
    real: 'Requests carry the headers of a Go client (`User-Agent: Go-http-client/1.1`, `Accept-Encoding: gzip`).',
    local: 'They carry those of Node.',
    reason: 'No header of the event is among them.',
  },
  {
    name: 'reasons-in-letters',
    real: 'The data of a dead letter after a refused connection ends in the words of Go.',
    local: 'It ends in those of Node, after the same beginning.',
    reason: 'The words are for people.',
  },
  {
    name: 'watch-ends',
    real: 'What changes between the end of a watch and the next list is never told.',
    local: 'Only `stopSources()` and an expired watch make such holes; a watch that merely ended goes on where it was.',
    reason: 'Tests choose when events are lost.',
  },
  {
    name: 'irregular-plural',
    real: 'A kind whose plural is irregular is skipped, the others of its source are watched.',
    local: 'The whole source does not run.',
    reason: 'The generator guards the plurals of all kinds we watch.',
  },
  {
    name: 'owner',
    real: 'A source with `owner` tells only of objects which such an owner controls.',
    local: '`spec.owner` is not read.',
    reason: 'No source of ours names one.',
  },
  {
    name: 'namespace-selector',
    real: 'Each new or deleted namespace restarts the adapters of all sources with a `namespaceSelector`, an empty one included, and what changes meanwhile is never told.',
    local: 'The selector is evaluated when the source starts.',
    reason: 'Sweeps find what was missed; faults can drop events on demand.',
  },
  {
    name: 'security',
    real: 'OIDC, EventPolicies and TLS guard the ingress where they are switched on.',
    local: 'The ingress takes everything that reaches loopback.',
    reason: 'They are tested on a real cluster.',
  },
  {
    name: 'times',
    real: 'Times have nanoseconds, PingSources a random jitter below half a second, a fan-out ends after 15 minutes.',
    local: 'Times have milliseconds; there is no jitter and no end.',
    reason: 'No rule of ours depends on it.',
  },
  {
    name: 'event-types',
    real: 'An EventType has the condition Ready while its Broker is there, and is served as v1beta1 to v1beta3.',
    local: 'It is kept as it was applied, as v1beta2, and has no status.',
    reason: 'Nothing of ours reads one: they are for people and portals.',
  },
] as const satisfies readonly Deviation[];

/** The names that a case of the contract may give as its reason to fail here. */
export type DeviationName = (typeof deviations)[number]['name'];
