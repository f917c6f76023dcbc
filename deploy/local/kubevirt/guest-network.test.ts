import { describe, expect, test } from 'vitest';
import { interfacesOf, withAgent } from './guest-network.ts';

const mac = '02:00:00:00:00:0A';
const spec = {
  domain: { devices: { interfaces: [{ name: 'lan', macAddress: mac }, { name: 'default' }] } },
  networks: [
    { name: 'lan', multus: { networkName: 'lab' } },
    { name: 'default', pod: {} },
  ],
};
const plain = interfacesOf(spec, 'uid-1', 'domain, multus-status');

describe('without an agent', () => {
  test('an address is known on the Pod network alone', () => {
    expect(plain[0]).toMatchObject({ name: 'lan', mac: mac.toLowerCase() });
    expect(plain[0]).not.toHaveProperty('ipAddress');
    expect(plain[1]).toMatchObject({ podInterfaceName: 'eth0', ipAddress: expect.stringMatching(/^10\.244\./) });
  });

  test('an interface without a MAC address gets a legal one, always the same', () => {
    expect(plain[1]?.mac).toMatch(/^02(:[0-9a-f]{2}){5}$/);
    expect(interfacesOf(spec, 'uid-1', '')[1]?.mac).toBe(plain[1]?.mac);
    expect(interfacesOf(spec, 'uid-2', '')[1]?.mac).not.toBe(plain[1]?.mac);
  });
});

describe('with an agent', () => {
  const address = (networkData: string | undefined) => withAgent(plain, networkData)[0]?.ipAddress;

  test('the address is what the network data gives for its MAC address', () => {
    const data = `ethernets: {a: {match: {macaddress: '${mac}'}, addresses: [10.0.0.5/24, 'fd00::5/64']}}`;
    expect(withAgent(plain, data)[0]).toMatchObject({ ipAddress: '10.0.0.5', ipAddresses: ['10.0.0.5', 'fd00::5'] });
  });

  test.each([
    ['no network data', undefined],
    [
      'network data for another one',
      "ethernets: {a: {match: {macaddress: '02:ff:ff:ff:ff:ff'}, addresses: [10.0.0.5/24]}}",
    ],
    ['network data that is no YAML', '{{'],
    ['network data of another shape', 'ethernets: [1]'],
  ])('%s leaves it to DHCP', (_, data) => {
    expect(address(data)).toMatch(/^10\.244\.\d+\.\d+$/);
  });
});
