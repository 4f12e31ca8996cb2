/** The text editor: a chunk of its own, loaded after the page. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  HighlightStyle,
  bracketMatching,
  foldGutter,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic as Mark, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--text-value)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
]);

const THEME = EditorView.theme({
  '&': {
    minHeight: '10rem',
    maxHeight: 'var(--editor-height)',
    fontSize: '0.87rem',
    color: 'var(--ink)',
    background: 'var(--back)',
  },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', overflow: 'auto' },
  '.cm-gutters': { background: 'var(--panel)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { background: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-tooltip, .cm-panels': { color: 'var(--ink)', background: 'var(--panel)', borderColor: 'var(--line)' },
  '.cm-diagnosticAction': { color: 'var(--back)', background: 'var(--accent)' },
});

export interface Editor {
  readonly setText: (text: string) => void;
  readonly mark: (diagnostics: readonly Diagnostic[]) => void;
  readonly show: (line: number) => void;
}

export function createEditor(
  parent: HTMLElement,
  label: string,
  text: string,
  changed: (text: string) => void,
): Editor {
  // The styles of the editor then need no exception from the policy of the page.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        yaml(),
        syntaxHighlighting(COLORS),
        lintGutter(),
        THEME,
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  // A region that scrolls is reached by the keyboard.
  view.scrollDOM.tabIndex = 0;
  return {
    setText: (next) => {
      if (view.state.doc.toString() === next) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    mark: (diagnostics) => {
      view.dispatch(
        setDiagnostics(
          view.state,
          diagnostics.map((each) => markOf(each, view.state.doc.length)),
        ),
      );
    },
    show: (line) => {
      const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      view.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      });
      view.focus();
    },
  };
}

/** The text may have changed since the findings were made. */
function markOf({ span, severity, message, hint, code, fix }: Diagnostic, length: number): Mark {
  const from = Math.min(span?.start ?? 0, length);
  const to = Math.min(Math.max(span?.end ?? 0, from), length);
  const text = hint === undefined ? message : `${message}\n${hint}`;
  return {
    from,
    to,
    severity,
    message: text,
    source: code,
    ...(fix && {
      actions: [
        {
          name: fix.message,
          apply: (view: EditorView) => {
            view.dispatch({ changes: { from: fix.span.start, to: fix.span.end, insert: fix.text } });
          },
        },
      ],
    }),
  };
}
