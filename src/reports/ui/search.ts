/** What the reader searches for, and what is open: the state of the page. */
import { signal } from '@preact/signals';

export const query = signal('');
/** Whether only problems are shown. */
export const onlyBad = signal(false);
export const showsKeys = signal(false);

const opened = signal<ReadonlySet<string>>(new Set());

/** Whether an item is open; those that are open at first are closed when they are toggled. */
export function isOpen(id: string, atFirst: boolean): boolean {
  return opened.value.has(id) !== atFirst;
}

export function toggle(id: string): void {
  const next = new Set(opened.peek());
  if (!next.delete(id)) next.add(id);
  opened.value = next;
}

/** Whether each word of the search is in one of the texts. */
export function isFound(searched: string, texts: () => readonly (string | null)[]): boolean {
  const words = searched.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const all = texts().join('\n').toLowerCase();
  return words.every((word) => all.includes(word));
}
