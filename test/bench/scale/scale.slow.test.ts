import { KubeConfig } from '@kubernetes/client-node';
import { expect, onTestFinished, test } from 'vitest';
import { startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { crowds } from './crowds.ts';
import { audit, measureScale } from './measure.ts';
import { isGrown, rowsOf } from './table.ts';

test.each(Object.entries(crowds))(
  '%s: an event costs no function more requests or bytes beside more of them, and an audit grows with them only',
  async (_, crowd) => {
    const server = await startApiServer({ clock: realClock });
    onTestFinished(() => server.close());
    const config = new KubeConfig();
    config.loadFromString(server.kubeconfig());
    const { costs } = await measureScale({ crowd, counts: [10, 100], config, say: () => undefined });
    const rows = rowsOf(costs);
    expect(rows.length).toBeGreaterThan(0);
    expect(costs.filter(({ batch, requests }) => batch === audit && requests === 0)).toEqual([]);
    expect(rows.filter(isGrown)).toEqual([]);
  },
  300_000,
);
