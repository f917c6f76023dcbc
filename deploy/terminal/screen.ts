import type { WriteStream } from 'node:tty';

/** A part of the terminal that is drawn over and over, with the lines that have been said above it. */
export interface Screen {
  /** Puts these lines where the last ones were; as many of them as the terminal has rows for. */
  draw(lines: readonly string[]): void;
  /** Writes a line that stays. */
  say(line: string): void;
  /** Keeps the last lines on the screen, and shows the cursor again. */
  close(): void;
}

type Terminal = Pick<WriteStream, 'write' | 'rows' | 'columns'>;

/** Draws on a terminal, below whose scrolling text the frame is the last part. */
export function screenOn(out: Terminal): Screen {
  let frame: readonly string[] = [];
  let drawnColumns = out.columns;
  let isOpen = false;
  const showCursor = () => void out.write(cursor.show);

  const redraw = (lines: readonly string[], above = '') => {
    if (!isOpen) process.once('exit', showCursor);
    const start = isOpen ? back(frame.length, drawnColumns !== out.columns) : cursor.hide;
    isOpen = true;
    drawnColumns = out.columns;
    // A frame as high as the terminal would scroll away under the cursor.
    frame = lines.slice(0, Math.max(1, (out.rows || 24) - 1));
    out.write(start + above + frame.map((line) => `${line}${clear.lineEnd}\n`).join('') + clear.below);
  };
  return {
    draw: (lines) => redraw(lines),
    say: (line) => redraw(frame, `${line}${clear.lineEnd}\n`),
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      process.off('exit', showCursor);
      showCursor();
    },
  };
}

const cursor = { hide: '\u001b[?25l', show: '\u001b[?25h' };
const clear = { lineEnd: '\u001b[K', below: '\u001b[J', all: '\u001b[2J\u001b[H' };

/** To the first line of the frame. A terminal of another width wraps its lines differently: where it begins is unknown. */
const back = (lines: number, isResized: boolean) =>
  isResized ? clear.all : `\r${lines > 0 ? `\u001b[${lines}A` : ''}`;
