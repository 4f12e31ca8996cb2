/** Places in files: their source beside them, and the way to the editor. */
import { signal } from '@preact/signals';
import type { Places } from '../../pages/explanation.tsx';
import type { FileText } from '../wire_editing.ts';
import { attempt, hello, view } from './state.ts';
import { get } from './server.ts';

/** The files of the configuration as they are on disk; empty until they are fetched. */
export const files = signal<readonly FileText[]>([]);
/** The place that the editor shows next; null for none. */
export const wanted = signal<{ readonly file: string; readonly line: number } | null>(null);

let isAsked = false;

/** Fetches the files once, or again if asked. */
export async function loadFiles(again = false): Promise<void> {
  if ((isAsked && !again) || hello.peek()?.can.files !== true) return;
  isAsked = true;
  const answer = await attempt(() => get<{ readonly files: readonly FileText[] }>('files'));
  if (answer === null) isAsked = false;
  else files.value = answer.files;
}

export const places: Places = {
  show: ({ file, line }) => {
    wanted.value = { file, line };
    view.value = 'draft';
  },
  lineAt: ({ file, line }) =>
    files.value.find(({ name }) => name === file)?.text.split('\n', line)[line - 1] ?? null,
};
