import { annotation } from '../cdi/annotation.ts';
import { classFor, waitsForConsumer } from '../cdi/storage-profile.ts';
import { Claim, type StorageClass } from '../controller/kinds.ts';
import { patchOf, type Write } from '../controller/write.ts';

/** The one node that all Pods and guests are on. */
export const nodeName = 'ot-simulated-node';

/** Those of the claims whose class waits until a node is chosen. */
export const lateAmong = (claims: readonly Claim[], classes: ReadonlyMap<string, StorageClass>) =>
  claims.filter(({ spec }) => waitsForConsumer(classFor(spec.storageClassName, classes.values())));

export const isBound = ({ status }: Claim) => status?.phase === 'Bound';

/** Tells those of the claims that wait for it which node is chosen. */
export const choiceOfNode = (lateClaims: readonly Claim[]): Write[] =>
  lateClaims
    .filter((claim) => !isBound(claim) && claim.metadata.annotations?.[annotation.selectedNode] === undefined)
    .map((claim) => patchOf(Claim, claim, { metadata: { annotations: { [annotation.selectedNode]: nodeName } } }));
