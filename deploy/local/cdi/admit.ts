import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ApiError } from '../../../shared/runtime/errors.ts';
import { sourceProblem } from './admit-source.ts';
import { storageProblem } from './admit-storage.ts';
import { annotation } from './annotation.ts';

/** What an API server asks an admission webhook about. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  resource: { group: string; version: string; resource: string };
  /** '' or 'status'; CDI's webhooks hear of no subresource. */
  subresource?: string;
  object: Record<string, unknown> | undefined;
  oldObject: Record<string, unknown> | undefined;
  user: string;
}

/** As much of a claim as decides whether a DataVolume may take its name. */
export interface ExistingClaim {
  metadata: {
    annotations?: Record<string, string> | undefined;
    ownerReferences?: { kind: string; controller?: boolean | undefined }[] | undefined;
  };
}

/** Says why a user may not clone what a namespace holds; undefined when he may. */
export type RefuseClone = (user: string, namespace: string) => Promise<string | undefined>;

export type FindClaim = (
  namespace: string,
  name: string,
) => ExistingClaim | undefined | Promise<ExistingClaim | undefined>;

const Candidate = z.looseObject({
  metadata: z.looseObject({
    name: z.string().default(''),
    namespace: z.string().default(''),
    annotations: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.record(z.string(), z.unknown()).default({}),
});
type Candidate = z.infer<typeof Candidate>;

/**
 * CDI's two webhooks for DataVolumes, the one that signs clones and the one that validates: throws an ApiError 422 in their own
 * words. `findClaim` looks up the claim that has the DataVolume's name. Who may clone from another namespace is decided here and
 * only here: on a real cluster without CDI's own API server no webhook runs, since a simulator there is a client like any other.
 */
export async function admit(request: AdmissionRequest, findClaim: FindClaim, refuseClone: RefuseClone): Promise<void> {
  const { operation, resource, object, oldObject, user } = request;
  if (resource.group !== 'cdi.kubevirt.io' || resource.resource !== 'datavolumes' || !object || operation === 'DELETE')
    return;
  if (request.subresource) return;
  const dataVolume = Candidate.parse(object);
  const refusal = await cloneRefusal(dataVolume, user, refuseClone);
  if (refusal !== undefined) throw denied('datavolume-mutate.cdi.kubevirt.io', refusal);
  if (operation === 'CREATE') sign(object, dataVolume);
  const problem =
    specChange(operation, dataVolume, oldObject) ??
    nameProblem(dataVolume) ??
    (operation === 'CREATE' ? await claimProblem(dataVolume, findClaim) : undefined) ??
    storageProblem(dataVolume.spec) ??
    sourceProblem(dataVolume.spec);
  if (problem) throw denied('datavolume-validate.cdi.kubevirt.io', problem);
}

// The blank before the message is CDI's: it joins the causes that way.
const denied = (webhook: string, problem: string) =>
  new ApiError(422, '', `admission webhook "${webhook}" denied the request:  ${problem}`);

const CloneSource = z.looseObject({
  pvc: z.looseObject({ namespace: z.string().default('') }).nullish(),
  snapshot: z.looseObject({ namespace: z.string().default('') }).nullish(),
});

const sourceNamespace = ({ spec }: Candidate) => {
  const { pvc, snapshot } = CloneSource.catch({}).parse(spec.source);
  return (pvc ?? snapshot)?.namespace;
};

/** Called at each write to a clone, also to its labels; only a clone that is being deleted passes unchecked. */
async function cloneRefusal(dataVolume: Candidate, user: string, refuseClone: RefuseClone) {
  const namespace = sourceNamespace(dataVolume);
  const isHere = !namespace || namespace === dataVolume.metadata.namespace;
  return isHere || dataVolume.metadata.deletionTimestamp ? undefined : refuseClone(user, namespace);
}

/** A clone carries a token that proves its authorization; nothing here reads it. */
function sign(object: Record<string, unknown>, dataVolume: Candidate) {
  if (sourceNamespace(dataVolume) === undefined) return;
  const annotations = { ...dataVolume.metadata.annotations, [annotation.cloneToken]: 'ot-simulated' };
  object.metadata = { ...(object.metadata as object), annotations };
}

function specChange(operation: string, { spec }: Candidate, oldObject: Record<string, unknown> | undefined) {
  if (operation !== 'UPDATE' || !oldObject) return undefined;
  return isDeepStrictEqual(spec, Candidate.parse(oldObject).spec) ? undefined : 'Cannot update DataVolume Spec';
}

const nameProblem = ({ metadata }: Candidate) =>
  metadata.name.length > 253 ? 'Name cannot be longer than 253 characters' : undefined;

async function claimProblem({ metadata }: Candidate, findClaim: FindClaim) {
  const { namespace, name } = metadata;
  const claim = await findClaim(namespace, name);
  if (!claim) return undefined;
  const { annotations = {}, ownerReferences = [] } = claim.metadata;
  const adoptable =
    annotations[annotation.populatedFor] === name || metadata.annotations?.[annotation.allowClaimAdoption] === 'true';
  // Any DataVolume's claim passes here, even an earlier one's; the controller then waits for that claim to go.
  const isDataVolumes = ownerReferences.some(({ controller, kind }) => controller && kind === 'DataVolume');
  return adoptable || isDataVolumes ? undefined : `Destination PVC ${namespace}/${name} already exists`;
}
