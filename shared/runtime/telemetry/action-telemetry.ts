import type { Action } from '../../actions.ts';
import { Lease } from '../../kinds/coordination/lease.ts';
import type { KubernetesObject } from '../../kinds/resource.ts';
import { type TraceOf, traceBegunBy, traceOf } from '../../traces.ts';
import { Conflict } from '../errors.ts';
import { imageOf, lifeIn, type Telemetry } from './telemetry.ts';

/** What a reconcile reports of the actions that it performs. */
export interface ActionTelemetry {
  /** Runs an action in a span of the trace that it belongs to. */
  span<T>(action: Action, run: () => Promise<T>): Promise<T>;
  /** Links the current span with the trace that begins with an object that was created or applied. */
  made(object: KubernetesObject): void;
  measure(point: Action & { do: 'measure' }): void;
}

export function actionTelemetry(name: string, telemetry: Telemetry): ActionTelemetry {
  const phases = new Map<string, string>();
  return {
    async span(action, run) {
      if (action.do !== 'call' && !('resource' in action)) return run();
      const trace = traceFor(action);
      const life = lifeAttributes(action, trace, phases);
      if (action.do === 'call')
        return telemetry.span(`call ${action.request.operation}`, trace, { ...callAttributes(action), ...life }, run);
      const { kind } = action.resource;
      try {
        return await telemetry.span(`${action.do} ${kind}`, trace, { ...writeAttributes(action), ...life }, run);
      } catch (error) {
        if (error instanceof Conflict) {
          const metric = kind === Lease.kind ? 'ot.lease.conflicts' : 'ot.write.conflicts';
          telemetry.measure(metric, 1, { function: name });
        }
        throw error;
      }
    },
    made(object) {
      const trace = traceBegunBy(object);
      if (trace) telemetry.made(trace);
    },
    measure({ metric, value, attributes, trace, since }) {
      telemetry.measure(metric, value, attributes);
      if (trace && since) telemetry.lasted(metric, since, value, trace, { ...attributes, ...uidAttributes(trace) });
    },
  };
}

/** Which object a span is about. */
const objectAttributes = (kind: string, { name, namespace }: { name: string; namespace?: string | undefined }) => ({
  'k8s.object.kind': kind,
  'k8s.object.name': name,
  ...(namespace ? { 'k8s.namespace.name': namespace } : {}),
});

type Call = Extract<Action, { do: 'call' }>;

const callAttributes = ({ of, request }: Call) => ({
  ...objectAttributes(of.kind, of.metadata),
  'ot.openstack.service': request.service,
});

type Write = Extract<Action, { resource: unknown }>;

/** What a write is about. Never a URL, a message or a Secret. */
const writeAttributes = (action: Write) =>
  objectAttributes(action.resource.kind, ('of' in action ? action.of : action.object).metadata);

/** The trace that an action names, else that of the object it writes: of an image, that of the revision which the write begins. */
function traceFor(action: Write | Call): TraceOf | undefined {
  if (action.trace) return action.trace;
  const { metadata, status } = ('of' in action ? action.of : action.object) as Written;
  if (!metadata.uid) return undefined;
  const { apiVersion, kind } = action.do === 'call' ? action.of : action.resource;
  const begun = action.do === 'patchStatus' ? action.status.revision : undefined;
  const revision = typeof begun === 'number' ? begun : status?.revision;
  return traceOf({ apiVersion, kind, metadata: { uid: metadata.uid }, status: { ...status, revision } });
}

interface Written {
  metadata: { uid?: string };
  status?: { phase?: string; revision?: number };
}

/** The objects of the trace and their phases; `phases` keeps where this reconcile has moved each object. */
function lifeAttributes(
  action: Write | Call,
  trace: TraceOf | undefined,
  phases: Map<string, string>,
): Record<string, string> {
  const image = imageOf(trace);
  const life = trace && lifeIn(trace);
  return {
    ...(trace && uidAttributes(trace)),
    ...(image && phaseAttribute('image', phaseAfter(action, image, phases))),
    ...(life && phaseAttribute(life.what, phaseAfter(action, life, phases))),
  };
}

const phaseAttribute = (what: string, phase: string | undefined): Record<string, string> =>
  phase === undefined ? {} : { [`ot.${what}.phase`]: phase };

function uidAttributes(of: TraceOf): Record<string, string> {
  const image = imageOf(of);
  const life = lifeIn(of);
  return {
    ...(image ? { 'ot.image.uid': image.uid, 'ot.image.revision': String(image.revision) } : {}),
    ...(life ? { [`ot.${life.what}.uid`]: life.uid } : {}),
  };
}

/** A write of a status moves the object it is about, and no other that its trace names. */
function phaseAfter(
  action: Write | Call,
  { uid, phase }: { uid: string; phase?: string },
  phases: Map<string, string>,
) {
  const moved = action.do === 'patchStatus' && action.status.phase;
  if (typeof moved === 'string' && 'of' in action && action.of.metadata.uid === uid) phases.set(uid, moved);
  return phases.get(uid) ?? phase;
}
