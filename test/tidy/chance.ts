import { isChance } from './globals.ts';
import { globalUses } from './scopes.ts';
import { isNode, lineOf, walk } from './tree.ts';
import type { Node, Rule, SourceFile } from './tree.ts';

/** Tests, and the scripts that they run. */
const TESTS = /^(?:test|bench\/soak)\//;
/** Functions of `node:crypto` and of the global `crypto`. */
const UNSEEDED = /^(?:random(?:Bytes|Fill|FillSync|Int|UUID)|getRandomValues)$/;

/** Chance that has to differ between runs. */
// table: files and reasons
const ALLOWED: Readonly<Record<string, string>> = {
  'test/free_port.ts': 'runs share the ports of the machine',
  'test/unique_name.ts': 'runs share the databases of a server',
};

/** A test that fails by chance fails again with its seed. */
export const testsAreSeeded: Rule = (tree) =>
  tree.sources
    .filter(({ path }) => TESTS.test(path))
    .flatMap((file) => {
      const { path } = file;
      const uses = unseededIn(file);
      if (!Object.hasOwn(ALLOWED, path)) {
        const message =
          'chance that no seed repeats; take `seeded` of test/random.ts, or test/unique_name.ts';
        return uses.map((node) => ({ path, line: lineOf(file, node.start), message }));
      }
      const message = 'allowed chance but has none; remove it from test/tidy/chance.ts';
      return uses.length > 0 ? [] : [{ path, line: 1, message }];
    });

function unseededIn({ program }: SourceFile): Node[] {
  const found: Node[] = globalUses(program)
    .filter(isChance)
    .map(({ node }) => node);
  walk(program, (node) => {
    const name =
      node.type === 'ImportSpecifier'
        ? node['imported']
        : node.type === 'MemberExpression' && node['computed'] === false
          ? node['property']
          : null;
    if (isNode(name) && UNSEEDED.test(String(name['name']))) found.push(node);
  });
  return found;
}
