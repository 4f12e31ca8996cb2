import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type YamlReading, readAgain, readYaml } from '../../src/editing/read_yaml.ts';
import { type YamlNode } from '../../src/editing/yaml_tree.ts';
import { IS_FULL, runs } from '../random.ts';
import { LISTS, edited, edits } from './edits.ts';

/** All of a node, which may be made when it is needed. */
function whole(node: YamlNode | null): unknown {
  if (node === null) return null;
  const { kind, start, end, anchor } = node;
  const own = { kind, start, end, anchor };
  switch (node.kind) {
    case 'map':
      return { ...own, entries: node.entries.map(({ key, value }) => [whole(key), whole(value)]) };
    case 'list':
      return { ...own, dashes: node.dashes, items: node.items.map(whole) };
    case 'scalar':
      return { ...own, style: node.style };
    case 'alias':
      return { ...own, name: node.name };
  }
}

test('after each of random edits the tree is the one of the whole text', () => {
  let known = 0;
  fc.assert(
    fc.property(fc.constantFrom(...LISTS), edits({ most: 12 }), (start, changes) => {
      let text = start;
      let reading: YamlReading = readAgain(text, null);
      for (const change of changes) {
        text = edited(text, change);
        const before = new Set(reading.items.map(({ item }) => item));
        reading = readAgain(text, reading);
        known += reading.items.filter(({ item }) => before.has(item)).length;
        expect({ text, tree: whole(reading.tree) }).toEqual({ text, tree: whole(readYaml(text)) });
      }
    }),
    { numRuns: runs(40_000, 500) },
  );
  expect(known).toBeGreaterThan(0);
});

/** Edits at every place: those next to a marker are the ones that an element is kept for, or is not. */
const SMALL = [
  { remove: 1, insert: '' },
  { remove: 2, insert: '' },
  ...[' ', '  ', '\n', '\n  ', '-', '- ', 'a', '#', ': '].map((insert) => ({ remove: 0, insert })),
];
test.each(IS_FULL ? LISTS : LISTS.slice(1))(
  'after a small edit at any place the tree is the one of the whole text: %#',
  (text) => {
    const reading = readAgain(text, null);
    for (let at = 0; at <= text.length; at++)
      for (const { remove, insert } of SMALL) {
        const after = text.slice(0, at) + insert + text.slice(at + remove);
        const tree = whole(readAgain(after, reading).tree);
        // Comparing with `toEqual` would take most of the time.
        if (JSON.stringify(tree) === JSON.stringify(whole(readYaml(after)))) continue;
        expect({ after, tree }).toEqual({ after, tree: whole(readYaml(after)) });
      }
  },
);

test('only the element that has changed is read again', () => {
  const text = `a:\n${Array.from({ length: 50 }, (_, at) => `  - b: ${at}\n    c: [${at}]\n`).join('')}`;
  const before = readAgain(text, null);
  const after = readAgain(text.replace('b: 20', 'b: 200'), before);
  const items = before.items.map(({ item }) => item);
  // The last one has no marker after it.
  expect(items).toHaveLength(49);
  expect(after.items.flatMap(({ item }, at) => (item === items[at] ? [] : [at]))).toEqual([20]);
  expect(after.items.at(-1)!.by).toBe(1);
});
