/** The draft: unsaved texts of the configuration, and what they would decide. */
import { computed, effect, signal } from '@preact/signals';
import type { CompleteAnswer, DraftAnswer, FileText, FormatAnswer, WriteRequest } from '../wire_editing.ts';
import { files, loadFiles } from './places.ts';
import { Refusal, send, sentenceOf } from './server.ts';
import { attempt, hello, note, selected, view } from './state.ts';

const PAUSE_MS = 120;

/** Texts that differ from the disk, by the names of their files. */
export const texts = signal<Readonly<Record<string, string>>>({});
export const openName = signal<string | null>(null);
export const answer = signal<DraftAnswer | null>(null);
/** Why nothing could be decided; null otherwise. */
export const failure = signal<string | null>(null);
export const isDeciding = signal(false);
/** Whether the explanation is seen. */
export const isExplained = signal(false);

export const openFile = computed<FileText | null>(
  () => files.value.find(({ name }) => name === openName.value) ?? files.value[0] ?? null,
);
export const changedNames = computed(() => Object.keys(texts.value));

/** The text of a file: the draft, or what is on disk. */
export function textOf(file: FileText): string {
  return texts.value[file.name] ?? file.text;
}

export function edit(name: string, text: string): void {
  const { [name]: _before, ...others } = texts.peek();
  const isSaved = files.peek().find((file) => file.name === name)?.text === text;
  if (isSaved && _before === undefined) return;
  texts.value = isSaved ? others : { ...others, [name]: text };
}

/** Drops the draft. */
export async function revert(): Promise<void> {
  texts.value = {};
  await loadFiles(true);
}

/** Decides after a pause of the keyboard, while the draft is seen. */
export function decideDraft(): void {
  let timer = 0;
  let running: AbortController | null = null;
  effect(() => {
    const drafted = texts.value;
    const seq = selected.value;
    const explain = isExplained.value;
    const isSeen = view.value === 'draft' && hello.value?.can.draft === true && files.value.length > 0;
    window.clearTimeout(timer);
    running?.abort();
    if (!isSeen) return;
    running = new AbortController();
    const { signal: signal_ } = running;
    timer = window.setTimeout(() => void decide(drafted, seq, explain, signal_), PAUSE_MS);
  });
}

async function decide(
  drafted: Readonly<Record<string, string>>,
  seq: number | null,
  explain: boolean,
  signal_: AbortSignal,
): Promise<void> {
  isDeciding.value = true;
  try {
    const asked = { texts: drafted, ...(seq !== null && { seq }), last: 500, explain };
    answer.value = await send<DraftAnswer>('POST', 'draft', asked, signal_);
    failure.value = null;
  } catch (error) {
    if (signal_.aborted) return;
    failure.value = sentenceOf(error);
  } finally {
    if (!signal_.aborted) isDeciding.value = false;
  }
}

export async function complete(name: string, text: string, offset: number): Promise<CompleteAnswer | null> {
  if (hello.peek()?.can.complete !== true) return null;
  return send<CompleteAnswer>('POST', 'complete', { name, text, offset }).catch(() => null);
}

/** Formats the open file; says why if it cannot be. */
export async function format(): Promise<void> {
  const file = openFile.peek();
  if (file === null) return;
  const formatted = await attempt(() =>
    send<FormatAnswer>('POST', 'format', { name: file.name, text: textOf(file) }),
  );
  if (formatted === null) return;
  if (formatted.text === null) {
    note.value = formatted.diagnostics[0]?.message ?? `${file.name} cannot be formatted`;
  } else edit(file.name, formatted.text);
}

/** Writes the drafts to their files; each is refused if the file was changed meanwhile. */
export async function write(): Promise<void> {
  for (const [name, text] of Object.entries(texts.peek())) {
    const file = files.peek().find((each) => each.name === name)!;
    try {
      const written = await send<FileText>('PUT', 'files', {
        name,
        text,
        expected: file.hash,
      } satisfies WriteRequest);
      files.value = files.peek().map((each) => (each.name === name ? written : each));
      const { [name]: _written, ...others } = texts.peek();
      texts.value = others;
    } catch (error) {
      const isConflict = error instanceof Refusal && error.status === 409;
      note.value = isConflict
        ? `${name} was changed on disk meanwhile, and was not written. Revert to take the new text.`
        : sentenceOf(error);
      return;
    }
  }
  note.value = 'Written.';
}
