import type { FunctionDeclaration } from '../../shared/function.ts';

/** What a function's container asks for and may take at most. */
export interface Size {
  requests: { cpu: string; memory: string };
  limits: { memory: string };
}

/**
 * What a pod of a function asks for in production, by how it scales; README.md says how it was measured. No limit of CPU: a
 * function that is throttled answers late, and the Broker then sends the event once more.
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
