import type { FileSettings } from '../resources/edge_document.ts';
import type { Transaction, View } from '../store/port.ts';

/** Settings of an edge file besides its objects, stored for the edge and for `export`. */

const SETTING = 'edge_file';

/** The last parsed settings; equal text gives the same object, so that caches by identity work. */
let read: { readonly text: string; readonly settings: FileSettings } | null = null;

export async function fileSettings(view: View): Promise<FileSettings> {
  const text = (await view.setting(SETTING)) ?? '{}';
  if (read?.text !== text) read = { text, settings: JSON.parse(text) as FileSettings };
  return read.settings;
}

export function keepFileSettings(transaction: Transaction, settings: FileSettings): Promise<void> {
  return transaction.set(SETTING, JSON.stringify(settings));
}
