import { partOf } from '../../knative/manifest.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { operatorNamespace } from '../../shared/operator.ts';

/**
 * One budget for each function that is always there. It allows one pod to be away and never demands one: a function that
 * runs once would else stop every drain for ever, and its absence loses nothing (events are tried again, a sweep finds the rest).
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
        // A pod that never became ready must not hold up a drain.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    }));
