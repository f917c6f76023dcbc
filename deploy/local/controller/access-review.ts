import { defineResource, type KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

const reviews = defineResource(
  {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    namespaced: false,
  },
  {},
);

/** A review has an answer, and no name. */
type Review = KubernetesObject & { status: { allowed: boolean } };
export const SubjectAccessReview = { ...reviews, parse: (value: unknown) => value as Review };

export async function isAllowed(
  kube: Pick<Kube, 'create'>,
  spec: { user: string; groups?: readonly string[]; resourceAttributes: object },
): Promise<boolean> {
  const { status } = await kube.create(SubjectAccessReview, { metadata: {}, spec });
  return status.allowed;
}
