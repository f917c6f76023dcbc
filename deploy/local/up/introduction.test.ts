import { expect, test } from 'vitest';
import { introduction } from './introduction.ts';

const usual = {
  isNew: true,
  kubeconfig: '/home/me/ot-functions/.local/kubeconfig',
  consoleUrl: 'http://127.0.0.1:18090',
  storeUrl: 'http://127.0.0.1:19000',
  broker: 'http://127.0.0.1:18080/sync-operator/default',
  metricsUrl: 'http://127.0.0.1:9464/metrics',
};

test('the introduction fits 15 lines of 80 columns', () => {
  const lines = introduction(usual);
  expect(lines.length).toBeLessThanOrEqual(15);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
});

test('the event to post is a whole JSON document of a CloudEvent', () => {
  const text = introduction(usual).join('\n');
  const event = JSON.parse(/-d '([^']*)'/.exec(text)?.[1] ?? '');
  expect(event).toEqual({
    specversion: '1.0',
    id: '1',
    source: 'me',
    type: 'ot.pelotech.image.published.v1',
    data: { name: 'debian-12', url: 'http://127.0.0.1:19000/images/debian-12.qcow2' },
  });
});

test('the examples are applied with the address of the store that there is', () => {
  const text = introduction({ ...usual, storeUrl: 'http://127.0.0.1:4711' }).join('\n');
  expect(text).toContain(
    'sed s#http://127.0.0.1:19000#http://127.0.0.1:4711# crds/examples/virtual-machine-ubuntu.yaml | kubectl apply -f -',
  );
});
