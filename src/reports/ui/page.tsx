/** A saved report: the data is in the file, and nothing is loaded. */
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type KeyRow, Keys, isForPage } from '../../pages/keys.tsx';
import { visibleLine } from '../../pages/visible.ts';
import type { Report } from '../data.ts';
import { CasesView } from './cases_view.tsx';
import { CoverageView } from './coverage_view.tsx';
import { FiguresView } from './figures_view.tsx';
import { ListView } from './list_view.tsx';
import { onlyBad, query, showsKeys } from './search.ts';

// table: keys of reports
const KEYS: readonly KeyRow[] = [
  ['/', 'search'],
  ['j k', 'next, previous'],
  ['Enter', 'open, close'],
  ['f', 'problems only'],
  ['Esc', 'search for nothing'],
  ['?', 'these keys'],
];

function View({ report }: { readonly report: Report }) {
  switch (report.kind) {
    case 'cases':
      return <CasesView report={report} />;
    case 'coverage':
      return <CoverageView report={report} />;
    case 'figures':
      return <FiguresView report={report} />;
    case 'list':
      return <ListView report={report} />;
  }
}

function Page({ report }: { readonly report: Report }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') query.value = '';
      if (!isForPage(event) || !did(event.key, field.current!)) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  const { title, conclusion, isGood, version, kind } = report;
  return (
    <>
      <header>
        <h1>
          {visibleLine(title)} <span class={isGood ? 'good' : 'bad'}>{visibleLine(conclusion)}</span>
        </h1>
        <search>
          <input
            ref={field}
            type="search"
            aria-label="Search"
            placeholder="Search  /"
            autocomplete="off"
            spellcheck={false}
            value={query.value}
            onInput={({ currentTarget }) => (query.value = currentTarget.value)}
          />
          {kind !== 'figures' && (
            <button
              type="button"
              aria-pressed={onlyBad.value}
              onClick={() => (onlyBad.value = !onlyBad.value)}
            >
              Only problems
            </button>
          )}
          <button
            type="button"
            aria-label="Keys"
            aria-expanded={showsKeys.value}
            onClick={() => (showsKeys.value = !showsKeys.value)}
          >
            ?
          </button>
        </search>
      </header>
      {showsKeys.value && <Keys rows={KEYS} />}
      <main>
        <View report={report} />
      </main>
      <footer class="quiet">
        edgeproof {version}
        <details>
          <summary>Licences of packages in this file</summary>
          <pre>{licenses}</pre>
        </details>
      </footer>
    </>
  );
}

/** Whether the key does something here. */
function did(key: string, field: HTMLInputElement): boolean {
  switch (key) {
    case '/':
      field.focus();
      return true;
    case '?':
      showsKeys.value = !showsKeys.value;
      return true;
    case 'f':
      onlyBad.value = !onlyBad.value;
      return true;
    case 'j':
      return move(1);
    case 'k':
      return move(-1);
    default:
      return false;
  }
}

function move(by: 1 | -1): true {
  const heads = [...document.querySelectorAll<HTMLElement>('button.head')];
  const at = heads.indexOf(document.activeElement as HTMLElement);
  heads[at < 0 && by < 0 ? heads.length - 1 : Math.min(heads.length - 1, Math.max(0, at + by))]?.focus();
  return true;
}

const licenses = document.querySelector<HTMLTemplateElement>('#licenses')!.content.textContent;
const { textContent: text } = document.querySelector('#data')!;
render(<Page report={JSON.parse(text) as Report} />, document.querySelector('#page')!);
