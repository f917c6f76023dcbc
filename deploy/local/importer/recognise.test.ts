import { expect, test } from 'vitest';
import { recognise } from './recognise.ts';

const at = (offset: number, magic: string | number[]) => {
  const head = Buffer.alloc(512);
  Buffer.from(magic as string, 'latin1').copy(head, offset);
  return head;
};

test.each([
  ['qcow2', at(0, 'QFI\xfb')],
  ['vmdk', at(0, 'KDMV')],
  ['vdi', at(0x40, [0x7f, 0x10, 0xda, 0xbe])],
  ['vhd', at(0, 'conectix')],
  ['vhdx', at(0, 'vhdxfile')],
  ['raw', at(0, '<!DOCTYPE html>')],
  ['raw', at(1, 'QFI\xfb')],
  ['raw', at(0x101, 'ustar')],
  ['raw', Buffer.alloc(0)],
])('takes content for %s by its first bytes', (format, head) => {
  expect(recognise(head)).toEqual({ format });
});

test.each([
  ['gz', at(0, [0x1f, 0x8b, 8])],
  ['xz', at(0, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])],
  ['zst', at(0, [0x28, 0xb5, 0x2f, 0xfd])],
])('looks inside of %s', (compression, head) => {
  expect(recognise(head)).toEqual({ compression });
});
