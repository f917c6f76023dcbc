import { expect, test } from 'vitest';
import { styled } from './paint.ts';
import { cell, tableLines } from './table.ts';

const columns = [{ title: 'IMAGE' }, { title: 'TRIES', align: 'right' }, { title: '' }] as const;
const rows = [
  ['ubuntu-24.04', '1', 'ready'],
  ['debian', '12', styled('dim', 'place 3 in the queue')],
];

test('columns are as wide as their widest cell, numbers stand right', () => {
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
