import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { isNode, lineOf } from './tree.ts';
import type { Breach, Node, Rule, SourceFile, Tree } from './tree.ts';

/** The generated lists of filters. */
const LISTS = /^src\/filters\/(?:table|actions|modules|action_schemas|module_schemas)\.ts$/;

const TYPES = [...MODULE_FACTS.keys(), ...ACTION_FACTS.keys()];
/** Names that cannot be anything else, as a whole, as part of a code or a pointer, or as a property. */
const UNMISTAKABLE = TYPES.filter((type) => /[-_]/.test(type) && type !== 'traffic_policy');
const NAMED = new RegExp(`(?<![\\w-])(?:${UNMISTAKABLE.join('|')})(?![\\w-])`);
const PROPERTIES: ReadonlySet<string> = new Set(UNMISTAKABLE);
/** Ordinary words too, which name a filter where they are compared with a type. */
const WORDS: ReadonlySet<string> = new Set(TYPES);
const OF_TYPE = /^(?:type|module|name|action)$/;

const ADVICE = 'read a fact of filters/table.ts instead, or add one to filters/facts.ts';

/** Builds the rule; each exception holds for a file and a filter, and has to be used. */
export function filterNames(
  exceptions: Readonly<Record<string, Readonly<Record<string, string>>>> = EXCEPTIONS,
) {
  const used = new Set<string>();
  const filtersAreNamedAtHome: Rule = (tree) => {
    const homes = homesIn(tree);
    return tree.sources.flatMap((file) => {
      if (!file.path.startsWith('src/') || LISTS.test(file.path)) return [];
      const own = homes.filter(({ folder }) => file.path.startsWith(folder));
      return namesIn(file).flatMap(({ node, name }): Breach[] => {
        if (own.some(({ text }) => text.includes(`type: '${name}'`))) return [];
        used.add(`${file.path} ${name}`);
        if (exceptions[file.path]?.[name] !== undefined) return [];
        return [
          { path: file.path, line: lineOf(file, node.start), says: `names the filter '${name}'; ${ADVICE}` },
        ];
      });
    });
  };
  const namesAreUsed: Rule = (tree) => {
    filtersAreNamedAtHome(tree);
    return Object.entries(exceptions).flatMap(([path, names]) =>
      Object.keys(names)
        .filter((name) => !used.has(`${path} ${name}`))
        .map((name) => ({ path, line: 1, says: `no longer names '${name}'; remove the exception` })),
    );
  };
  return { filtersAreNamedAtHome, namesAreUsed };
}

/** Folders with the facts of filters: what is below may say what they are called. */
function homesIn({ sources }: Tree): { readonly folder: string; readonly text: string }[] {
  const facts = sources.filter(({ path }) => path.endsWith('/facts.ts'));
  return facts.map(({ path, text }) => ({ folder: path.slice(0, -'facts.ts'.length), text }));
}

function namesIn({ program }: SourceFile): { node: Node; name: string }[] {
  const found: { node: Node; name: string }[] = [];
  const add = (node: Node, name: string | undefined): void => {
    if (name !== undefined) found.push({ node, name });
  };
  const visit = (node: Node): void => {
    if (/^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type) && isNode(node['source'])) return;
    const text = textOf(node);
    // Sentences may name filters.
    if (text !== null && !/\s/.test(text)) add(node, NAMED.exec(text)?.[0]);
    const key = keyOf(node);
    if (key !== null && PROPERTIES.has(key)) add(node, key);
    if (node.type === 'BinaryExpression') add(node, comparedType(node));
    for (const child of Object.values(node).flat().filter(isNode)) visit(child);
  };
  visit(program);
  return found;
}

function textOf(node: Node): string | null {
  if (node.type === 'TemplateElement') return (node['value'] as { readonly raw: string }).raw;
  if (node.type !== 'Literal') return null;
  const regex = node['regex'] as { readonly pattern: string } | undefined;
  return regex?.pattern ?? (typeof node['value'] === 'string' ? node['value'] : null);
}

/** The name of a property that is read, or of a key that is written. */
function keyOf(node: Node): string | null {
  const key = { MemberExpression: node['property'], Property: node['key'] }[node.type];
  return isNode(key) && node['computed'] !== true && key.type === 'Identifier' ? String(key['name']) : null;
}

/** The type that something called a type is compared with: `facts.type === 'log'`. */
function comparedType({ left, right }: Node): string | undefined {
  const sides = [left, right].filter(isNode);
  const isOfType = sides.some((side) => OF_TYPE.test(nameOf(side)));
  const name = sides.map(textOf).find((text) => text !== null && WORDS.has(text) && !NAMED.test(text));
  return isOfType ? (name ?? undefined) : undefined;
}

function nameOf(node: Node): string {
  const property = node['property'];
  return String(isNode(property) ? property['name'] : (node['name'] ?? ''));
}
export const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
