/** Header fields and other pairs. However many there are, the page shows a bounded number until it is asked for more. */
import { useState } from 'preact/hooks';
import type { HeaderLine } from './header_changes.ts';
import { countText } from './units.ts';
import { visibleLine } from './visible.ts';

const ROWS = 100;
const VALUE_LETTERS = 400;

/** `[name, value, …]` as lines. */
export function linesOfFields(fields: readonly string[]): HeaderLine[] {
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => ({
    name: fields[at * 2]!,
    value: fields[at * 2 + 1]!,
    change: 'same',
  }));
}

// table: how a change is read out and marked
const CHANGES = { same: ['', ''], added: ['+', 'added: '], removed: ['−', 'removed: '] } as const;

interface Props {
  readonly caption: string;
  readonly lines: readonly HeaderLine[];
}

export function FieldsView({ caption, lines }: Props) {
  const [rows, setRows] = useState(ROWS);
  if (lines.length === 0) return <p class="quiet">{caption}: none</p>;
  return (
    <>
      <table class="fields">
        <caption>{caption}</caption>
        <tbody>
          {lines.slice(0, rows).map(({ name, value, change }, index) => (
            <tr key={index} class={change}>
              <th scope="row">
                {change !== 'same' && (
                  <>
                    <span aria-hidden="true">{CHANGES[change][0]} </span>
                    <span class="hidden">{CHANGES[change][1]}</span>
                  </>
                )}
                {visibleLine(name, 200)}
              </th>
              <td>
                <Value text={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > rows && (
        <button type="button" onClick={() => setRows(rows + 10 * ROWS)}>
          Show more of {countText(lines.length - rows)} further lines
        </button>
      )}
    </>
  );
}

/** A text that is cut until it is opened. */
function Value({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= VALUE_LETTERS) return <code>{visibleLine(text)}</code>;
  return (
    <>
      <code>{visibleLine(text, VALUE_LETTERS)}</code>{' '}
      <button type="button" class="place" onClick={() => setWhole(true)}>
        all {countText(text.length)} characters
      </button>
    </>
  );
}
