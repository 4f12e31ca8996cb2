/** A key, or several, with what it does. */
export type KeyRow = readonly [keys: string, meaning: string];

interface Props {
  readonly rows: readonly KeyRow[];
  /** Files with the licences of the packages that the page contains. */
  readonly licenses?: readonly string[];
}

/** The list of the keys of a page, and where the licences are. */
export function Keys({ rows, licenses = [] }: Props) {
  return (
    <aside class="keys" aria-label="Keys">
      <dl>
        {rows.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      {licenses.map((file) => (
        <a key={file} href={file} target="_blank" rel="noreferrer">
          {file.replace('.txt', '').replaceAll('_', ' ')}
        </a>
      ))}
    </aside>
  );
}

/** Whether a key is meant for the page, not for the field or the editor that has the focus. */
export function isForPage({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return false;
  return target instanceof Element && target.closest('input, select, textarea, .editor, dialog') === null;
}
