/** The draft pane: the files of the configuration, and what the draft would change. */
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ChangesView } from '../../pages/changes_view.tsx';
import type { Editor, LineClasses } from '../../pages/editor.ts';
import { findingIn } from '../../pages/findings.ts';
import { lineChanges } from '../../pages/line_changes.ts';
import {
  answer,
  changedNames,
  complete,
  edit,
  format,
  openFile,
  openName,
  revert,
  textOf,
  texts,
  write,
} from './draft.ts';
import { DraftVerdictView } from './draft_verdict.tsx';
import { files, loadFiles, wanted } from './places.ts';
import { hello, note, view } from './state.ts';

/** Lines of each file that a scenario run reached or missed; empty without one. */
export const coverage = signal<ReadonlyMap<string, LineClasses>>(new Map());
const isWriting = signal(false);

export function DraftPane() {
  useEffect(() => void loadFiles(), [hello.value]);
  const can = hello.value?.can;
  const count = changedNames.value.length;
  return (
    <section class="draft" aria-label="Draft">
      <header>
        <button type="button" class="back" title="Close (Esc)" onClick={() => void (view.value = 'traffic')}>
          ← <span>Traffic</span>
        </button>
        <Files />
        <span class="spring" />
        {can?.format === true && (
          <button type="button" title="Format the file (f)" onClick={() => void format()}>
            Format
          </button>
        )}
        {coverage.value.size > 0 && (
          <button type="button" onClick={() => void (coverage.value = new Map())}>
            Hide coverage
          </button>
        )}
        <button type="button" disabled={count === 0} onClick={() => void revert()}>
          Revert
        </button>
        {can?.write === true && (
          <button
            type="button"
            class="primary"
            disabled={count === 0}
            onClick={() => void (isWriting.value = true)}
          >
            Write to {count > 1 ? `${count} files` : 'file'} …
          </button>
        )}
      </header>
      <div class="draft_parts">
        <EditorPane />
        <DraftVerdictView />
      </div>
      {isWriting.value && <WriteWindow />}
    </section>
  );
}

function Files() {
  if (files.value.length === 0) return <span class="quiet">no files</span>;
  return (
    <label class="files">
      <span class="hidden">File</span>
      <select
        value={openFile.value?.name ?? ''}
        onChange={({ currentTarget }) => void (openName.value = currentTarget.value)}
      >
        {files.value.map(({ name }) => (
          <option key={name} value={name}>
            {name}
            {name in texts.value ? ' ● changed' : ''}
          </option>
        ))}
      </select>
    </label>
  );
}

function EditorPane() {
  const place = useRef<HTMLDivElement>(null);
  const name = openFile.value?.name ?? null;
  useEffect(() => {
    if (name === null) return;
    const end = edited(place.current!, name);
    return () => void end.then((stop) => stop());
  }, [name]);
  // Another file gets another element: a shadow root cannot be removed from its host.
  return <div key={name} class="editor" ref={place} />;
}

/** Loads the editor into a place, and keeps it and the draft alike; returns what ends that. */
async function edited(place: HTMLElement, name: string): Promise<() => void> {
  const { createEditor } = await import('../../pages/editor.ts');
  const fileOf = () => files.value.find((each) => each.name === name);
  const editor = createEditor(place, {
    label: `Draft of ${name}`,
    text: textOf(fileOf()!),
    changed: (text) => edit(name, text),
    complete: (text, offset) => complete(name, text, offset),
  });
  const ends = [
    effect(() => editor.setText(fileOf() === undefined ? '' : textOf(fileOf()!))),
    effect(() => markFindings(editor, name)),
    effect(() => editor.setLineClasses(coverage.value.get(name) ?? new Map<number, string>())),
    effect(() => {
      if (wanted.value?.file !== name) return;
      editor.show(wanted.value.line);
      wanted.value = null;
    }),
  ];
  return () => {
    for (const end of ends) end();
    editor.destroy();
  };
}

function markFindings(editor: Editor, name: string): void {
  const own = answer.value?.diagnostics.filter(({ file }) => file === name) ?? [];
  const file = files.peek().find((each) => each.name === name);
  const text = file === undefined ? '' : (texts.peek()[name] ?? file.text);
  editor.mark(own.map((each) => findingIn(text, each)));
}

/** A place that is wanted opens its file. */
export function openWanted(): void {
  effect(() => {
    const file = wanted.value?.file;
    if (file === undefined) return;
    if (files.value.some(({ name }) => name === file)) openName.value = file;
  });
}

/** What would be written, before it is. */
function WriteWindow() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  const close = (): void => dialog.current!.close();
  const errors = answer.value?.diagnostics.filter(({ severity }) => severity === 'error').length ?? 0;
  return (
    <dialog
      ref={dialog}
      class="write"
      aria-labelledby="write_title"
      onClose={() => void (isWriting.value = false)}
    >
      <h2 id="write_title">Write the draft?</h2>
      <p>edgeproof takes the new text as soon as it is written.</p>
      {errors > 0 && <p class="failure">The draft has {errors === 1 ? 'an error' : `${errors} errors`}.</p>}
      {changedNames.value.map((name) => (
        <section key={name}>
          <h3>{name}</h3>
          <ChangesView
            lines={lineChanges(files.value.find((each) => each.name === name)!.text, texts.value[name]!)}
          />
        </section>
      ))}
      {note.value !== '' && <p role="status">{note.value}</p>}
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={() => void write().then(close)}>
          Write
        </button>
      </div>
    </dialog>
  );
}
