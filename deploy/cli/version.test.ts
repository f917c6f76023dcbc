import { expect, test } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { otIn } from '../../test/support/tools/ot-process.ts';
import { imagesOf } from './version.ts';

test('--version needs no cluster', async () => {
  expect(await otIn({ KUBECONFIG: '/nowhere' }, '--version')).toEqual({
    code: 0,
    out: `ot-functions ${project.version}\n`,
    err: '',
  });
});

test('the functions of a cluster are as new as their images, each of which is named once', () => {
  const workload = (name: string, ...images: string[]) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '', generation: 1 },
    spec: { template: { spec: { containers: images.map((image) => ({ image })) } } },
  });
  const functions = 'registry.example/ot-functions:0.1.0';
  expect(imagesOf([workload('a', functions), workload('b', functions, 'mesh:1'), workload('c')])).toEqual([
    'mesh:1',
    functions,
  ]);
});
