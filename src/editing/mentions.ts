import type { Span } from '../diagnostics/diagnostic.ts';
import { collector, movedSpan } from './collected.ts';
import { innerSpan, rawText } from './edited_text.ts';

/** A file, or a pattern of files, that a text names, relative to its own. */
export interface Mention {
  readonly path: string;
  readonly span: Span;
}

/** The files that a text names: included files, policies, and what a scenario or properties are about. */
export const mentionsIn = collector<Mention>(
  (found, edited) =>
    ({ path }, node) => {
      const isAbout = edited.root === 'scenario' || edited.root === 'property';
      if (node?.kind !== 'scalar') return;
      const [first] = path;
      const isTop = path.length === 1 || (path.length === 2 && path[1] === '*');
      const isNamed =
        (isTop && (first === 'include' || (isAbout && (first === 'edge' || first === 'policy')))) ||
        (path.at(-1) === 'file' && path.at(-2) === 'traffic_policy');
      if (isNamed) found({ path: rawText(edited.text, node), span: innerSpan(edited.text, node) });
    },
  (mention, by) => ({ ...mention, span: movedSpan(mention.span, by) }),
);
