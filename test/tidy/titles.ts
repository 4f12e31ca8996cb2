import type { Breach, Rule } from './tree.ts';

/** Every page has one title, and it comes first; a comment of one line, such as that of a generator, may precede it. */
export const pagesHaveOneTitle: Rule = (tree) =>
  tree.markdown.flatMap(({ path, text }): Breach[] => {
    const titles = outsideOfFences(text).flatMap((line, index) => (/^# \S/.test(line) ? [index + 1] : []));
    if (titles.length === 0)
      return [{ path, line: 1, message: 'the page has no title; begin it with `# …`' }];
    if (titles.length > 1) {
      return [{ path, line: titles[1]!, message: 'the page has a second title; sections begin with `## …`' }];
    }
    const first =
      text.split('\n').findIndex((line) => line.trim() !== '' && !/^<!--.*-->$/.test(line.trim())) + 1;
    return first === titles[0]
      ? []
      : [{ path, line: first, message: 'something stands before the title; put it below' }];
  });

const DECISIONS = 'docs/decisions/';

/** The table of the decisions has a row for each record. */
export const decisionsAreListed: Rule = (tree) => {
  const table = tree.markdown.find(({ path }) => path === `${DECISIONS}README.md`)?.text ?? '';
  return tree.markdown.flatMap(({ path }): Breach[] => {
    const [name] = /^\d{4}_.*$/.exec(path.startsWith(DECISIONS) ? path.slice(DECISIONS.length) : '') ?? [];
    if (name === undefined || table.includes(`(${name})`)) return [];
    return [{ path, line: 1, message: `${DECISIONS}README.md does not list this record; add a row` }];
  });
};

/** The lines of a page, those inside of code fences empty. */
function outsideOfFences(text: string): string[] {
  let fence = '';
  return text.split('\n').map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === '') {
      fence = mark ?? '';
      return mark === undefined ? line : '';
    }
    if (mark !== undefined && mark.startsWith(fence)) fence = '';
    return '';
  });
}
