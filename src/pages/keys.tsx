/** A key, or several, with what it does. */
export type KeyRow = readonly [keys: string, meaning: string];

/** The list of the keys of a page. */
export function Keys({ rows }: { readonly rows: readonly KeyRow[] }) {
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
    </aside>
  );
}

/** Whether a key is meant for the page, not for the field or the editor that has the focus. */
export function isForPage({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return false;
  return target instanceof Element && target.closest('input, select, textarea, .editor, dialog') === null;
}
