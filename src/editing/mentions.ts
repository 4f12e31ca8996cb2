import type { Span } from '../diagnostics/diagnostic.ts';
import { type EditedText, innerSpan, rawText, visit } from './edited_text.ts';

/** A file, or a pattern of files, that a text names, relative to its own. */
export interface Mention {
  readonly path: string;
  readonly span: Span;
}

/** The files that a text names: included files, policies, and what a scenario or properties are about. */
export function mentionsIn(edited: EditedText): readonly Mention[] {
  const found: Mention[] = [];
  const isAbout = edited.root === 'scenario' || edited.root === 'property';
  visit(edited, ({ path }, node) => {
    if (node?.kind !== 'scalar') return;
    const [first] = path;
    const isTop = path.length === 1 || (path.length === 2 && path[1] === '*');
    const isNamed =
      (isTop && (first === 'include' || (isAbout && (first === 'edge' || first === 'policy')))) ||
      (path.at(-1) === 'file' && path.at(-2) === 'traffic_policy');
    if (isNamed) found.push({ path: rawText(edited.text, node), span: innerSpan(edited.text, node) });
  });
  return found;
}
