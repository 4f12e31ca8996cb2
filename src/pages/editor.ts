/** The text editor: a chunk of its own, loaded after the page. */
import { type CompletionContext, autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic as Mark, lintGutter, setDiagnostics } from '@codemirror/lint';
import { searchKeymap } from '@codemirror/search';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Finding } from './findings.ts';

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--text-value)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
]);

const THEME = EditorView.theme({
  '&': {
    minHeight: '10rem',
    height: 'var(--editor-exact-height, auto)',
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
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--ink)', background: 'var(--chosen)' },
  '.cm-diagnosticAction': { color: 'var(--back)', background: 'var(--accent)' },
  '.covered-hit': { boxShadow: 'inset 3px 0 var(--good)', background: 'var(--good-soft)' },
  '.covered-missed': { boxShadow: 'inset 3px 0 var(--bad)', background: 'var(--bad-soft)' },
});

/** Classes of lines, such as those of a coverage overlay, by their number. */
export type LineClasses = ReadonlyMap<number, string>;

const setLineClasses = StateEffect.define<LineClasses>();
const LINE_CLASSES = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { state, changes, effects }) {
    const set = effects.find((effect) => effect.is(setLineClasses));
    if (set === undefined) return before.map(changes);
    const ranges = [...set.value]
      .filter(([line]) => line >= 1 && line <= state.doc.lines)
      .toSorted(([one], [other]) => one - other)
      .map(([line, name]) => Decoration.line({ class: name }).range(state.doc.line(line).from));
    return Decoration.set(ranges);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** What may be written at an offset, replacing `start` to `end`; null for nothing. */
type Complete = (
  text: string,
  offset: number,
) => Promise<{
  readonly start: number;
  readonly end: number;
  readonly candidates: readonly { readonly text: string; readonly kind: string; readonly doc: string }[];
} | null>;

export interface Editor {
  readonly setText: (text: string) => void;
  readonly mark: (findings: readonly Finding[]) => void;
  readonly show: (line: number) => void;
  readonly setLineClasses: (classes: LineClasses) => void;
  readonly focus: () => void;
  readonly destroy: () => void;
}

interface Options {
  readonly label: string;
  readonly text: string;
  readonly changed: (text: string) => void;
  readonly complete?: Complete;
}

export function createEditor(parent: HTMLElement, { label, text, changed, complete }: Options): Editor {
  // The styles of the editor then need no exception from the policy of the page.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        highlightActiveLine(),
        yaml(),
        syntaxHighlighting(COLORS),
        lintGutter(),
        LINE_CLASSES,
        THEME,
        ...(complete === undefined ? [] : [autocompletion({ override: [completionsOf(complete)] })]),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  // A region that scrolls is reached by the keyboard.
  view.scrollDOM.tabIndex = 0;
  return facade(view);
}

function facade(view: EditorView): Editor {
  return {
    setText: (next) => {
      if (view.state.doc.toString() === next) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    mark: (findings) => {
      const { length } = view.state.doc;
      view.dispatch(
        setDiagnostics(
          view.state,
          findings.map((each) => markOf(each, length)),
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
    setLineClasses: (classes) => view.dispatch({ effects: setLineClasses.of(classes) }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function completionsOf(complete: Complete) {
  return async (context: CompletionContext) => {
    const found = await complete(context.state.doc.toString(), context.pos);
    if (found === null || context.aborted || found.candidates.length === 0) return null;
    if (!context.explicit && found.start === found.end) return null;
    return {
      from: found.start,
      to: found.end,
      options: found.candidates.map(({ text, kind: detail, doc: info }) =>
        info === '' ? { label: text, detail } : { label: text, detail, info },
      ),
    };
  };
}

/** The text may have changed since the findings were made. */
function markOf({ span, severity, message, hint, code, fix }: Finding, length: number): Mark {
  const from = Math.min(span?.start ?? 0, length);
  const to = Math.min(Math.max(span?.end ?? 0, from), length);
  return {
    from,
    to,
    severity,
    message: hint === null ? message : `${message}\n${hint}`,
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
