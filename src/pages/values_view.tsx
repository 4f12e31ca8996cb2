import { visibleLine } from './visible.ts';

/** The values of the parts of expressions; a part that was skipped says why. */
interface ShownValues {
  readonly pointer: string;
  readonly parts: readonly {
    readonly text: string;
    readonly value: string;
    /** How many parts are around it. */
    readonly depth?: number;
    readonly skipped?: string | null;
  }[];
}

export function ValuesView({ values }: { readonly values: readonly ShownValues[] }) {
  return (
    <details class="values">
      <summary>Values of expressions</summary>
      <table>
        <tbody>
          {values.flatMap(({ pointer, parts }, at) =>
            parts.map(({ text, depth = 0, value, skipped = null }, index) => (
              <tr key={`${at} ${pointer} ${index}`}>
                <th scope="row">
                  <code>
                    {'\u00a0\u00a0'.repeat(depth)}
                    {visibleLine(text)}
                  </code>
                </th>
                <td>{skipped === null ? <code>{visibleLine(value)}</code> : <i>skipped: {skipped}</i>}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </details>
  );
}
