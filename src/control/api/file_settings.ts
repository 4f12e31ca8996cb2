import type { FileSettings } from '../resources/edge_document.ts';
import type { Transaction, View } from '../store/port.ts';

/** What an edge file says beside its objects, kept in the store for the plane and for `export`. */

const SETTING = 'edge_file';

/** The settings read last: as long as their text is the same they are the same object, by which facts are known again. */
let read: { readonly text: string; readonly settings: FileSettings } | null = null;

export async function fileSettings(view: View): Promise<FileSettings> {
  const text = (await view.setting(SETTING)) ?? '{}';
  if (read?.text !== text) read = { text, settings: JSON.parse(text) as FileSettings };
  return read.settings;
}

export function keepFileSettings(transaction: Transaction, settings: FileSettings): Promise<void> {
  return transaction.set(SETTING, JSON.stringify(settings));
}
