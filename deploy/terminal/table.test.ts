import { expect, test } from 'vitest';
import { styled } from './paint.ts';
import { cell, tableLines } from './table.ts';

const columns = [{ title: 'IMAGE' }, { title: 'TRIES', align: 'right' }, { title: '' }] as const;
const rows = [
  ['ubuntu-24.04', '1', 'ready'],
  ['debian', '12', styled('dim', 'place 3 in the queue')],
];

test('columns are as wide as their widest cell, numbers are aligned right', () => {
  expect(tableLines(columns, rows, { columns: 80, colour: false })).toEqual([
    'IMAGE         TRIES',
    'ubuntu-24.04      1  ready',
    'debian           12  place 3 in the queue',
  ]);
});

test('the last column gives way where the terminal is narrow', () => {
  const lines = tableLines(columns, rows, { columns: 30, colour: false });
  expect(lines[2]).toBe('debian           12  place 3 …');
  expect(lines.every((line) => line.length <= 30)).toBe(true);
});

test('a table of no rows is its titles', () => {
  expect(tableLines(columns, [], { columns: 80, colour: false })).toEqual(['IMAGE  TRIES']);
});

test('a cell keeps its style while it is filled up or cut', () => {
  expect(cell(styled('red', 'no'), 4)).toEqual({ style: 'red', text: 'no  ' });
  expect(cell('failed', 4)).toBe('fai…');
});

test('a column without room is named below the table, with how to see it', () => {
  const titles = [{ title: 'NAME' }, { title: 'AGE' }, { title: 'CAUSE' }, { title: 'NOTE' }];
  const told = [['VMDiskImage vmdi-farm/ubuntu-24.04', '5m', 'No such key.', '']];
  const look = { columns: 38, colour: false, wider: 'add -o wide' };
  expect(tableLines(titles, told, look)).toEqual([
    'NAME                                A…',
    'VMDiskImage vmdi-farm/ubuntu-24.04  5m',
    'No room in 38 columns for AGE, CAUSE: add -o wide',
  ]);
  expect(tableLines(titles, told, { ...look, columns: 47 }).at(-1)).toBe(
    'VMDiskImage vmdi-farm/ubuntu-24.04  5m   No su…',
  );
  expect(
    tableLines([{ title: 'N' }, { title: 'BYTES', align: 'right' }], [['image', '1']], { ...look, columns: 9 }).at(-1),
  ).toBe('No room in 9 columns for BYTES: add -o wide');
});

test('characters that take two columns push nothing out of line', () => {
  expect(
    tableLines(
      columns,
      [
        ['日本語イメージ', '1', 'ready'],
        ['🚀img', '2', 'ready'],
      ],
      { columns: 80, colour: false },
    ),
  ).toEqual(['IMAGE           TRIES', '日本語イメージ      1  ready', '🚀img               2  ready']);
  expect(cell('日本語', 5)).toBe('日本…');
  expect(cell('日本語', 4)).toBe('日… ');
});
