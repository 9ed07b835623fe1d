import { clip } from '@agentci/lib/text';
import { useState } from 'preact/hooks';
import { Pair } from './pair.tsx';
import type { Sides } from './sides.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

const MAX_ROWS = 200;
const MAX_QUESTION = 160;

/** Changed verdicts: regressions first, then fixes. Each unfolds into both sides. */
export function Flips({ sides }: { sides: Sides }) {
  const { flips } = sides.comparison;
  const ordered = [...flips].sort(
    (a, b) => Number(b.after === 'fail') - Number(a.after === 'fail'),
  );
  return (
    <>
      <h3>Verdicts that flipped</h3>
      {flips.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <ul class="flips">
          {ordered.slice(0, MAX_ROWS).map((flip) => (
            <Flip key={flip.id} flip={flip} sides={sides} />
          ))}
        </ul>
      )}
      {flips.length > MAX_ROWS && <p class="empty">and {flips.length - MAX_ROWS} more</p>}
    </>
  );
}

function Flip({ flip, sides }: { flip: Sides['comparison']['flips'][number]; sides: Sides }) {
  const [isOpen, setOpen] = useState(false);
  const reason = sides.after.queries.get(flip.id)?.reason;
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Status status={flip.before} /> → <Status status={flip.after} />{' '}
          <strong>{visible(flip.id)}</strong>{' '}
          <span>{visible(clip(sides.asked.get(flip.id) ?? '', MAX_QUESTION))}</span>
          {reason !== undefined && <span class="finding">{visible(reason)}</span>}
        </summary>
        {isOpen && <Pair sides={sides} id={flip.id} />}
      </details>
    </li>
  );
}
