import { displayWidth } from './diff/box.ts';

/** Characters per line in a comment of 780 px, and the height of lines. */
const LINE_CHARACTERS = 96;
const LINE_PX = 25;
const ROW_PX = 34;
const TEXT_PX = 21;
const CELL_CHARACTERS = 110;
/** About one screen without title, verdict and folded lines. */
const OPEN_PX = 490;

/** The remaining visible space, because a long comment hides the line that matters. */
export class OneScreen {
  #left = OPEN_PX;

  /** Reserves space for lines and returns how many fit. */
  take(
    lines: readonly string[],
    { head = [], most }: { head?: readonly string[]; most: number },
  ): number {
    const before = this.#left;
    this.#left -= head.length === 0 ? 16 : ROW_PX + 16;
    let taken = 0;
    for (const line of lines.slice(0, most)) {
      const height = heightOf(line);
      if (height > this.#left) break;
      this.#left -= height;
      taken++;
    }
    if (taken === 0) this.#left = before;
    return taken;
  }
}

function heightOf(line: string): number {
  const text = shownText(line);
  if (!line.startsWith('|'))
    return LINE_PX * Math.max(1, Math.ceil(displayWidth(text) / LINE_CHARACTERS));
  const cells = text.split('|').slice(1, -1).map(displayWidth);
  // Columns share the width by content. A row wraps if it is too long in total.
  const all = cells.reduce((sum, cell) => sum + Math.max(4, cell), 0);
  const longest = Math.max(...cells);
  const wraps = Math.max(
    1,
    Math.ceil(all / CELL_CHARACTERS),
    Math.ceil(longest / (CELL_CHARACTERS / 2)),
  );
  return ROW_PX + TEXT_PX * (wraps - 1);
}

/** Visible text: entities are one character, link addresses none. */
const shownText = (line: string): string =>
  line.replace(/\]\([^)]*\)/g, ']').replace(/&(?:#\d+|\w+);/g, 'x');
