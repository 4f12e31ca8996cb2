import type { LineChange } from './line_changes.ts';
import { countText } from './units.ts';
import { visibleLine } from './visible.ts';

/** Equal lines that are shown before and after a change. */
const CONTEXT = 3;

// table: how a changed line is marked
const MARKS = { same: ' ', added: '+', removed: '−' } as const;

/** The changes of a text with the lines around them; equal lines in between are left out, and counted. */
export function ChangesView({ lines }: { readonly lines: readonly LineChange[] }) {
  const isNear = nearChanges(lines);
  const left = lines.length - isNear.filter(Boolean).length;
  if (left === lines.length) return <p class="quiet">No line differs.</p>;
  return (
    <>
      <pre class="changes" tabIndex={0}>
        {lines.map(
          ({ change, at, text }, index) =>
            isNear[index] && (
              <span key={index} class={change}>
                {`${String(at).padStart(4)} ${MARKS[change]} ${visibleLine(text, 1000)}\n`}
              </span>
            ),
        )}
      </pre>
      {left > 0 && <p class="quiet">{countText(left)} equal lines are left out.</p>}
    </>
  );
}

function nearChanges(lines: readonly LineChange[]): boolean[] {
  const near = lines.map(() => false);
  for (const [index, { change }] of lines.entries())
    if (change !== 'same') near.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  return near;
}
