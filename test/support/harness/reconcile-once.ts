import type { Batch, FunctionDeclaration } from '../../../shared/function.ts';
import { backgroundWork } from '../../../shared/runtime/background.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { type Reconciler, reconcile } from '../../../shared/runtime/reconcile.ts';
import { telemetryOf } from '../../../shared/runtime/telemetry/telemetry.ts';

/** One reconcile of a function by itself: no HTTP around it, and nothing that comes after it. */
export const reconcileOnce = <Observed>(
  declaration: FunctionDeclaration<Observed>,
  { kube, batch, now = Date.now, requeueAfter = () => undefined }: Given,
) =>
  reconcile(
    {
      declaration,
      ports: {
        kube,
        telemetry: telemetryOf(declaration.name),
        now,
        pause: async () => undefined,
        random: () => 0,
        publisher: { publish: () => undefined, republish: () => undefined },
      },
      background: backgroundWork(),
      republish: async () => undefined,
      requeueAfter,
    },
    batch,
  );

interface Given {
  kube: Kube;
  batch: Batch;
  now?(): number;
  requeueAfter?: Reconciler<unknown>['requeueAfter'];
}
