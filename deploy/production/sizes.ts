import type { FunctionDeclaration } from '../../shared/function.ts';

/** The requests and limits of a function's container. */
interface Size {
  requests: { cpu: string; memory: string };
  limits: { memory: string };
}

/**
 * The resources of a function in production, by its scale; README.md says how they were measured. There is no CPU limit: a throttled
 * function answers late, and the Broker then delivers the event again.
 */
export const sizeOf = ({ scale }: Pick<FunctionDeclaration, 'scale'>): Size =>
  scale === 'zero'
    ? { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } }
    : { requests: { cpu: '100m', memory: '160Mi' }, limits: { memory: '512Mi' } };

/** The patches of a kustomize component that give each function its size, whether it is a Deployment or a Knative Service. */
export const sizePatches = (functions: readonly FunctionDeclaration[]) =>
  functions.flatMap((declaration) =>
    [
      { group: 'apps', kind: 'Deployment' },
      { group: 'serving.knative.dev', kind: 'Service' },
    ].map((target) => ({
      target: { ...target, name: declaration.name },
      patch: JSON.stringify([
        { op: 'replace', path: '/spec/template/spec/containers/0/resources', value: sizeOf(declaration) },
      ]),
    })),
  );
