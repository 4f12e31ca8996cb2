import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { caseOf, casesOfHar, withCase } from './add_case.ts';
import type { Editor } from '../../pages/editor.ts';
import { findingOf } from '../../pages/findings.ts';
import { Keys, isForPage } from '../../pages/keys.tsx';
import { EXAMPLES } from './examples.ts';
import { EDGE, SCENARIO, decideOnChange, edit, findings, fragmentOf, projectIn, texts } from './project.ts';
import { Results } from './results.tsx';

const editors = new Map<string, Editor>();
const note = signal('');
const isHelpOpen = signal(false);

function show({ file, line }: { readonly file: string; readonly line: number }): void {
  editors.get(file)?.show(line);
}

/** Loads the editor into a place, and keeps it and the project alike; returns what ends that. */
async function edited(place: HTMLElement, name: string, label: string): Promise<() => void> {
  const { createEditor } = await import('../../pages/editor.ts');
  const editor = createEditor(place, {
    label,
    text: texts.peek()[name] ?? '',
    changed: (text) => edit(name, text),
  });
  editors.set(name, editor);
  const ends = [
    effect(() => editor.setText(texts.value[name] ?? '')),
    effect(() => {
      const own = findings.value.filter(({ source }) => source?.name === name);
      editor.mark(own.map(findingOf));
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

function Pane({ name, label }: { readonly name: string; readonly label: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const end = edited(place.current!, name, label);
    return () => void end.then((stop) => stop());
  }, [name, label]);
  return (
    <section class="pane" aria-label={label}>
      <h2>{name}</h2>
      <div class="editor" ref={place} />
    </section>
  );
}

function add(form: HTMLFormElement): void {
  const valueOf = (name: string): string => (form.elements.namedItem(name) as HTMLInputElement).value;
  try {
    const added = caseOf(valueOf('request'), valueOf('ip'));
    edit(SCENARIO, withCase(texts.peek()[SCENARIO] ?? '', added));
    form.reset();
    note.value = '';
  } catch (error) {
    note.value = (error as Error).message;
  }
}

function AddRequest() {
  return (
    <form
      class="add"
      onSubmit={(event) => {
        event.preventDefault();
        add(event.currentTarget);
      }}
    >
      <label>
        Request{' '}
        {/* Of several lines, because those of curl are: in one line their breaks would become spaces. */}
        <textarea
          id="request"
          name="request"
          required
          rows={1}
          spellcheck={false}
          placeholder="/path, a URL, or curl …"
          autocomplete="off"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            event.currentTarget.form!.requestSubmit();
          }}
        />
      </label>
      <label>
        from <input name="ip" placeholder="203.0.113.9" autocomplete="off" size={14} />
      </label>
      <button type="submit">Add</button>
    </form>
  );
}

async function share(): Promise<void> {
  history.replaceState(null, '', `#${await fragmentOf(texts.peek())}`);
  try {
    await navigator.clipboard.writeText(location.href);
    note.value = 'The link is in the clipboard.';
  } catch {
    note.value = 'The link is in the address bar.';
  }
}

async function importHar(file: File | undefined): Promise<void> {
  if (file === undefined) return;
  try {
    const { cases, others, beyond } = casesOfHar(await file.text());
    if (cases !== '') edit(SCENARIO, withCase(texts.peek()[SCENARIO] ?? '', cases));
    note.value = [
      ...(cases === '' ? ['The file has no request by HTTP.'] : []),
      ...(others === 0 ? [] : [`Left out: ${others} not by HTTP.`]),
      ...(beyond === 0 ? [] : [`Left out: ${beyond} after the first 200.`]),
    ].join(' ');
  } catch (error) {
    note.value = `${file.name}: ${(error as Error).message}`;
  }
}

function Bar() {
  return (
    <header>
      <h1>edgeproof playground</h1>
      <label>
        Example{' '}
        <select onChange={(event) => void (texts.value = EXAMPLES[event.currentTarget.selectedIndex]!.texts)}>
          {EXAMPLES.map(({ title }) => (
            <option key={title}>{title}</option>
          ))}
        </select>
      </label>
      <label class="file">
        Import HAR{' '}
        <input
          type="file"
          accept=".har,.json"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            // The same file, saved again, is another choice.
            void importHar(file).then(() => (currentTarget.value = ''));
          }}
        />
      </label>
      <button type="button" onClick={() => void share()}>
        Share
      </button>
      <button
        type="button"
        aria-expanded={isHelpOpen.value}
        onClick={() => void (isHelpOpen.value = !isHelpOpen.value)}
      >
        Keys
      </button>
      <span role="status" class="note">
        {note.value}
      </span>
    </header>
  );
}

// table: keys of the page
const KEYS = [
  ['?', 'show or hide this list'],
  ['a', 'add a request'],
  ['1', 'edit the edge file'],
  ['2', 'edit the cases'],
  ['s', 'share'],
  ['Esc, then Tab', 'leave an editor'],
] as const;

function onKey(event: KeyboardEvent): void {
  const { key } = event;
  if (!isForPage(event)) return;
  if (key === '?') isHelpOpen.value = !isHelpOpen.value;
  else if (key === 'a') document.getElementById('request')?.focus();
  else if (key === '1') editors.get(EDGE)?.show(1);
  else if (key === '2') editors.get(SCENARIO)?.show(1);
  else if (key === 's') void share();
  else return;
  event.preventDefault();
}

function Page() {
  return (
    <>
      <Bar />
      {isHelpOpen.value && <Keys rows={KEYS} licenses={['LICENSES.txt', 'LICENSES_of_engine.txt']} />}
      <main>
        <Pane name={EDGE} label="Edge file" />
        <div class="right">
          <Pane name={SCENARIO} label="Cases" />
          <AddRequest />
          <Results show={show} />
        </div>
      </main>
    </>
  );
}

/** Shows the project of the link, also of one that is opened while the page is. */
async function openLink(): Promise<void> {
  const fragment = location.hash.slice(1);
  if (fragment === '') return;
  const shared = await projectIn(fragment);
  if (shared === null) note.value = 'The link has no whole project: its end may be missing.';
  else [texts.value, note.value] = [shared, ''];
}

await openLink();
window.addEventListener('hashchange', () => void openLink());
document.addEventListener('keydown', onKey);
render(<Page />, document.getElementById('page')!);
decideOnChange();
