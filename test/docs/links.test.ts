import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { anchorOf } from '../../docs/reference_pages/markdown.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The project's pages: those of `docs` and those at the top. */
const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join('docs', name)),
];

/** A page without what is code. */
function prose(text: string): string {
  return text.replaceAll(/^( *)(```+|~~~+)[^]*?^\1\2$/gm, '').replaceAll(/(`+)[^`][^]*?\1/g, '``');
}

/** The anchors of a page: repeated headings are numbered as GitHub numbers them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const outside = text.replaceAll(/^( *)(```+|~~~+)[^]*?^\1\2$/gm, '');
  const anchors = Array.from(outside.matchAll(/^#{1,6} +(.*)$/gm), ([, heading]) => {
    const anchor = anchorOf(heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
}

/** What is wrong with the links of a page, given how to read other files. */
function brokenLinks(page: string, text: string, root: string): readonly string[] {
  const targets = Array.from(prose(text).matchAll(/\]\(([^()\s]+)\)/g), ([, target]) => target!);
  return targets.flatMap((target) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path, anchor] = target.split('#');
    const file = path === '' ? join(root, page) : join(root, dirname(page), path!);
    if (path !== '' && !existsSync(file)) return [`${page}: ${target} does not exist`];
    if (anchor === undefined || (path !== '' && statSync(file).isDirectory())) return [];
    const found = anchorsOf(path === '' ? text : readFileSync(file, 'utf8')).has(anchor);
    return found ? [] : [`${page}: ${target} has no such heading in ${relative(root, file)}`];
  });
}

test('a broken link and a missing heading are found', () => {
  const text =
    '# One\n\n[a](no.md) [b](#one) [c](#two) [d](README.md#no) `[e](no.md)` [f](https://a.test)\n\n```\n# Two\n```\n';
  expect(brokenLinks('x.md', text, ROOT)).toEqual([
    'x.md: no.md does not exist',
    'x.md: #two has no such heading in x.md',
    'x.md: README.md#no has no such heading in README.md',
  ]);
});

test('all links between pages resolve', () => {
  const links = pages.flatMap((page) => [
    ...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\([^()\s]+\)/g),
  ]);
  expect(links.length).toBeGreaterThan(500);
  expect(pages.flatMap((page) => brokenLinks(page, readFileSync(join(ROOT, page), 'utf8'), ROOT))).toEqual(
    [],
  );
});
