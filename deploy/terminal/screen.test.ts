import { afterEach, expect, test } from 'vitest';
import { type Screen, screenOn } from './screen.ts';

const open: Screen[] = [];
afterEach(() => {
  for (const screen of open.splice(0)) screen.close();
});

/** A terminal that remembers what was written, with the control sequences in words. */
function terminal(rows = 10) {
  const written: string[] = [];
  const out = {
    rows,
    columns: 80,
    write(text: string) {
      written.push(text);
      return true;
    },
  };
  const screen = screenOn(out);
  open.push(screen);
  const take = () =>
    written
      .splice(0)
      .join('')
      .replaceAll('\u001b[?25l', '<hide>')
      .replaceAll('\u001b[?25h', '<show>')
      .replaceAll('\u001b[K', '')
      .replaceAll('\u001b[J', '<below>')
      .replaceAll('\u001b[2J\u001b[H', '<all>')
      .replaceAll('\u001b[1A', '<up 1>')
      .replaceAll('\u001b[2A', '<up 2>');
  return { out, screen, take };
}

test('a frame is drawn over the one before', () => {
  const { screen, take } = terminal();
  screen.draw(['one', 'two']);
  expect(take()).toBe('<hide>one\ntwo\n<below>');
  screen.draw(['three']);
  expect(take()).toBe('\r<up 2>three\n<below>');
  screen.draw([]);
  expect(take()).toBe('\r<up 1><below>');
});

test('permanent lines go above the frame', () => {
  const { screen, take } = terminal();
  screen.draw(['frame']);
  take();
  screen.say('said');
  expect(take()).toBe('\r<up 1>said\nframe\n<below>');
});

test('a frame higher than the terminal is cut, so that it does not scroll away', () => {
  const { screen, take } = terminal(3);
  screen.draw(['one', 'two', 'three', 'four']);
  expect(take()).toBe('<hide>one\ntwo\n<below>');
});

test('a terminal that has another width is cleared', () => {
  const { out, screen, take } = terminal();
  screen.draw(['one']);
  take();
  out.columns = 40;
  screen.draw(['one']);
  expect(take()).toBe('<all>one\n<below>');
});

test('closing gives the cursor back, once', () => {
  const { screen, take } = terminal();
  screen.draw(['one']);
  take();
  screen.close();
  screen.close();
  expect(take()).toBe('<show>');
});
