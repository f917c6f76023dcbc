import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiServer, startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { crowds } from './crowds.ts';
import { audit, measureScale } from './measure.ts';
import { isGrown, rowsOf } from './table.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
});
afterAll(() => server.close());

test.each(Object.entries(crowds))(
  '%s: an event costs no function more requests or bytes beside more of them, and an audit grows with them only',
  async (_, crowd) => {
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
