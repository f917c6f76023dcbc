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

export type FindClaim = (
  namespace: string,
  name: string,
) => ExistingClaim | undefined | Promise<ExistingClaim | undefined>;

const Candidate = z.looseObject({
  metadata: z.looseObject({
    name: z.string().default(''),
    namespace: z.string().default(''),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.record(z.string(), z.unknown()).default({}),
});
type Candidate = z.infer<typeof Candidate>;

/**
 * CDI's validating webhook for DataVolumes (datavolume-validate.cdi.kubevirt.io): throws an ApiError 422 in its own
 * words. `findClaim` looks up the claim that has the DataVolume's name.
 */
export async function admit(request: AdmissionRequest, findClaim: FindClaim): Promise<void> {
  const { operation, resource, object, oldObject } = request;
  if (resource.group !== 'cdi.kubevirt.io' || resource.resource !== 'datavolumes' || !object || operation === 'DELETE')
    return;
  const dataVolume = Candidate.parse(object);
  const problem =
    specChange(operation, dataVolume, oldObject) ??
    nameProblem(dataVolume) ??
    (operation === 'CREATE' ? await claimProblem(dataVolume, findClaim) : undefined) ??
    storageProblem(dataVolume.spec) ??
    sourceProblem(dataVolume.spec);
  // The blank before the message is CDI's: it joins the causes that way.
  if (problem) throw new ApiError(422, '', `admission webhook "${webhook}" denied the request:  ${problem}`);
}

const webhook = 'datavolume-validate.cdi.kubevirt.io';

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
