import type { FileSettings } from '../resources/edge_document.ts';
import type { Transaction, View } from '../store/port.ts';

/** What an edge file says beside its objects, kept in the store for the plane and for `export`. */

const SETTING = 'edge_file';

export async function fileSettings(view: View): Promise<FileSettings> {
  return JSON.parse((await view.setting(SETTING)) ?? '{}') as FileSettings;
}

export function keepFileSettings(transaction: Transaction, settings: FileSettings): Promise<void> {
  return transaction.set(SETTING, JSON.stringify(settings));
}
