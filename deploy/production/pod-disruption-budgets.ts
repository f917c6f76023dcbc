import type { FunctionDeclaration } from '../../shared/function.ts';
import { operatorNamespace, partOf } from '../../shared/operator.ts';

/**
 * One budget for each function that always runs. It allows one pod to be unavailable and never requires one: otherwise a function with a
 * single pod would block every drain, and its absence loses nothing (events are redelivered, a sweep finds the rest).
 */
export const podDisruptionBudgets = (functions: readonly FunctionDeclaration[]) =>
  functions
    .filter(({ scale }) => scale !== 'zero')
    .map(({ name }) => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: operatorNamespace, labels: { ...partOf, 'app.kubernetes.io/name': name } },
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: { 'app.kubernetes.io/name': name } },
        // A pod that never became ready must not block a drain.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    }));
