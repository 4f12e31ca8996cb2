import { ACTION_FACTS } from '../filters/table.ts';
import { collector } from './collected.ts';
import { type EditedText, rawText } from './edited_text.ts';

/** Keys of maps that expressions read, and that only traffic and other files tell. */
export type SeenKind = 'request_header' | 'response_header' | 'cookie' | 'query_parameter' | 'variable';

/** How expressions read a key: the text before it. */
const READS: readonly (readonly [SeenKind, string])[] = [
  ['request_header', String.raw`req\.(?:headers|trailers)\[\s*['"]|(?:get|has)ReqHeader\(\s*['"]`],
  ['response_header', String.raw`res\.(?:headers|trailers)\[\s*['"]|(?:get|has)ResHeader\(\s*['"]`],
  ['cookie', String.raw`re[qs]\.cookies\[\s*['"]|(?:get|has)Re[qs]Cookie\(\s*['"]`],
  ['query_parameter', String.raw`req\.url\.query_params\[\s*['"]|(?:get|has)QueryParam\(\s*['"]`],
  ['variable', String.raw`(?:^|[^\w.])vars\.`],
];
const BEFORE = READS.map(([kind, form]) => [kind, new RegExp(`(?:${form})([\\w-]*)$`)] as const);
const WRITTEN = READS.map(([kind, form]) => [kind, new RegExp(`(?:${form})([\\w-]+)`, 'g')] as const);

/** The key that an expression ends in; null if it ends in none. */
export function seenAt(before: string): { readonly kind: SeenKind; readonly word: string } | null {
  for (const [kind, form] of BEFORE) {
    const found = form.exec(before);
    if (found !== null) return { kind, word: found[1]! };
  }
  return null;
}

/** The keys in a text: those of its expressions, of what it sets, and of requests and responses in scenarios. */
export function keysSeenIn(edited: EditedText): ReadonlyMap<SeenKind, ReadonlySet<string>> {
  const found = new Map<SeenKind, Set<string>>();
  const add = (kind: SeenKind, name: string): void => {
    let names = found.get(kind);
    if (names === undefined) found.set(kind, (names = new Set()));
    names.add(kind === 'request_header' || kind === 'response_header' ? name.toLowerCase() : name);
  };
  for (const [kind, form] of WRITTEN) for (const [, name] of edited.text.matchAll(form)) add(kind, name!);
  for (const [kind, name] of writtenKeys(edited)) add(kind, name);
  return found;
}

/** The keys of maps of headers and variables. */
const writtenKeys = collector<readonly [SeenKind, string]>(
  (found, edited) =>
    ({ path, type }, _node, key) => {
      if (key === null) return;
      const [above, owner] = [path.at(-2), path.at(-3)];
      if (above === 'headers' && edited.root === 'scenario')
        found([
          owner === 'request' || path.includes('send') ? 'request_header' : 'response_header',
          rawText(edited.text, key),
        ]);
      // A list of maps with one key each.
      if (above === '*' && owner === 'vars' && ACTION_FACTS.get(type ?? '')?.sets !== undefined)
        found(['variable', rawText(edited.text, key)]);
    },
  (key) => key,
);
