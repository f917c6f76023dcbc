import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { qcow2Buffer, qcow2Content } from './qcow2.ts';
import { isQcow2, qcow2Check } from './qcow2-check.ts';

const mebi = 1024 * 1024;
const image = (version: 2 | 3 = 3) =>
  qcow2Buffer({ virtualBytes: 2048 * mebi, dataBytes: 3 * mebi, seed: 'alma', version });

function checked(bytes: Buffer, chunkBytes = bytes.length) {
  const check = qcow2Check();
  for (let at = 0; at < bytes.length; at += chunkBytes) check.push(bytes.subarray(at, at + chunkBytes));
  return { virtualBytes: check.virtualBytes(), problem: check.problem()?.message };
}

const broken = (change: (bytes: Buffer) => void) => {
  const bytes = image();
  change(bytes);
  return checked(bytes).problem;
};

describe('an image that was made here', () => {
  test.each([2, 3] as const)('is a sound qcow2 of version %i, however it is cut into chunks', (version) => {
    const bytes = image(version);
    expect(isQcow2(bytes)).toBe(true);
    expect(bytes.length).toBeLessThan(4 * mebi);
    for (const chunkBytes of [bytes.length, 65_536, 1000, 50]) {
      expect(checked(bytes, chunkBytes)).toEqual({ virtualBytes: 2048 * mebi, problem: undefined });
    }
  });

  test('is the same for the same seed', () => {
    expect(image().equals(image())).toBe(true);
  });

  test('can be larger than memory', () => {
    const { size, head } = qcow2Content({ virtualBytes: 500_000 * mebi, dataBytes: 100_000 * mebi, seed: 1 });
    expect(size).toBeGreaterThan(100_000 * mebi);
    expect(head?.length).toBeLessThan(20 * mebi);
    expect(isQcow2(head ?? Buffer.alloc(0))).toBe(true);
  });
});

describe('a broken image is known by', () => {
  const l1 = 3 * 65_536;
  test.each([
    ['its version', 'Unsupported qcow2 version 99', (bytes: Buffer) => bytes.writeUInt32BE(99, 4)],
    ['its cluster size', 'Unsupported cluster size: 2^99', (bytes: Buffer) => bytes.writeUInt32BE(99, 20)],
    ['the size of its L1 table', 'Active L1 table too large', (bytes: Buffer) => bytes.writeUInt32BE(2 ** 31, 36)],
    ['an L1 table too small for the disk', 'L1 table is too small', (bytes: Buffer) => bytes.writeUInt32BE(1, 36)],
    ['a file it builds upon', 'invalid backing file', (bytes: Buffer) => bytes.writeUInt32BE(512, 12)],
    ['noise in the L1 table', 'L2 table offset 0x', (bytes: Buffer) => bytes.fill(0xb3, l1, l1 + 64)],
    [
      'noise in an L2 table',
      'Cluster allocation offset 0x',
      (bytes: Buffer) => bytes.fill(0xb3, l1 + 65_536, l1 + 65_600),
    ],
    ['noise in its reference counts', 'Refblock offset 0x', (bytes: Buffer) => bytes.fill(0xb3, 65_536, 65_600)],
  ])('%s', (_, message, change) => {
    expect(broken(change)).toContain(message);
  });

  test('its end within the header', () => {
    expect(checked(image().subarray(0, 50)).problem).toBe('qcow2 header too short');
  });

  test.each([1000, 100_000, 200_000, 1_000_000])(
    'nothing where it ends at byte %i: qemu-img reads zeros there',
    (bytes) => {
      expect(checked(image().subarray(0, bytes)).problem).toBeUndefined();
    },
  );
});

const qemuImg = spawnSync('qemu-img', ['--version']).status === 0;
if (!qemuImg) console.warn('qemu-img is not on the PATH: images are not compared with the real one');

describe.skipIf(!qemuImg)('qemu-img', () => {
  const folder = mkdtempSync(join(tmpdir(), 'qcow2-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([2, 3] as const)('finds nothing wrong with what was made here in version %i', (version) => {
    const file = join(folder, `v${version}.qcow2`);
    writeFileSync(file, image(version));
    const report = JSON.parse(execFileSync('qemu-img', ['check', '--output=json', file], { encoding: 'utf8' }));
    expect(report).toMatchObject({ 'check-errors': 0, 'allocated-clusters': 48, 'total-clusters': 32_768 });
    expect(report.leaks ?? 0).toBe(0);
    const info = JSON.parse(execFileSync('qemu-img', ['info', '--output=json', file], { encoding: 'utf8' }));
    expect(info).toMatchObject({ format: 'qcow2', 'virtual-size': 2048 * mebi });
  });

  test('makes images in which nothing wrong is found here', () => {
    const raw = join(folder, 'disk.raw');
    const file = join(folder, 'made.qcow2');
    writeFileSync(raw, qcow2Buffer({ virtualBytes: mebi, dataBytes: mebi, seed: 1 }));
    for (const options of [[], ['-c'], ['-o', 'extended_l2=on'], ['-o', 'compat=0.10'], ['-o', 'cluster_size=512']]) {
      execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', ...options, raw, file]);
      const bytes = execFileSync('cat', [file], { maxBuffer: 64 * mebi });
      expect(checked(bytes, 65_536)).toMatchObject({ problem: undefined });
    }
  });
});
