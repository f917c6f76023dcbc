import { describe, expect, test } from 'vitest';
import { resolver } from './address.ts';
import { listen } from './listen.ts';

const answers = (what: string) => async (request: Request) => new Response(`${what} ${request.url}`);
const resolve = resolver({
  url: 'http://127.0.0.1:9',
  ingress: answers('ingress'),
  functions: (name) => (name === 'paint' ? answers('paint') : undefined),
});

describe('an address', () => {
  test.each([
    { destination: { ref: { kind: 'Service', name: 'paint' } }, reaches: 'paint http://paint.lab.svc.cluster.local/' },
    {
      destination: { ref: { kind: 'Service', name: 'paint', namespace: 'other' }, uri: '/red' },
      reaches: 'paint http://paint.other.svc.cluster.local/red',
    },
    {
      destination: { uri: 'http://paint.lab.svc.cluster.local/red' },
      reaches: 'paint http://paint.lab.svc.cluster.local/red',
    },
    { destination: { ref: { kind: 'Broker', name: 'default' } }, reaches: 'ingress http://127.0.0.1:9/lab/default' },
    {
      destination: { uri: 'http://broker-ingress.knative-eventing.svc.cluster.local/lab/default' },
      reaches: 'ingress http://broker-ingress.knative-eventing.svc.cluster.local/lab/default',
    },
  ])('$destination inside the process is $reaches', async ({ destination, reaches }) => {
    const address = resolve(destination, 'lab');
    expect(await (await address.send(new Request(address.url))).text()).toBe(reaches);
  });

  test('of a Service alone ends with its name, as Knative says it', () => {
    const destination = { ref: { kind: 'Service', name: 'paint' } };
    expect(resolve(destination, 'lab').url).toBe('http://paint.lab.svc.cluster.local');
  });

  test('elsewhere is reached over HTTP', async () => {
    const elsewhere = await listen(answers('elsewhere'), 0);
    const address = resolve({ uri: `${elsewhere.url}/in` }, 'lab');
    expect(await (await address.send(new Request(address.url))).text()).toBe(`elsewhere ${elsewhere.url}/in`);
    await elsewhere.close();
  });

  test('of a function that does not run refuses the connection', async () => {
    const address = resolve({ ref: { kind: 'Service', name: 'missing' } }, 'lab');
    await expect(address.send(new Request(address.url))).rejects.toThrow(
      'connection refused: no function named missing',
    );
  });

  test.each([
    { destination: {}, says: 'expected ref or uri' },
    { destination: { ref: { kind: 'Channel', name: 'c' } }, says: 'found a Channel; write its uri instead' },
    { destination: { uri: 'nowhere' }, says: 'Invalid URL' },
    {
      destination: { ref: { kind: 'Service', name: 'paint' }, uri: 'http://other/red' },
      says: 'expected a uri below the Service paint, found http://other/red',
    },
  ])('of $destination is refused', ({ destination, says }) => {
    expect(() => resolve(destination, 'lab')).toThrow(says);
  });
});
