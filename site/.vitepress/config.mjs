import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fragmentOf, projectOf } from '../../docs/playground_links.ts';
import { anchorOf } from '../../docs/reference_pages/markdown.ts';

/** The site is `docs/` as it is; its order is that of `docs/README.md`. */
const index = readFileSync(new URL('../../docs/README.md', import.meta.url), 'utf8');

/** The sections of the index, with the links of their lists. */
const sidebar = index
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const items = Array.from(section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g), ([, text, file]) => ({
      text: text.replaceAll('`', ''),
      link: `/${addressOf(file)}`,
    }));
    for (const item of items) Object.assign(item, pagesBelow(item.link));
    return { text: section.split('\n', 1)[0], collapsed: false, items };
  });

/** The pages that the index of a folder lists in its tables, such as those of the actions. */
function pagesBelow(link) {
  if (!link.endsWith('/')) return {};
  const listed = readFileSync(new URL(`../../docs${link}README.md`, import.meta.url), 'utf8');
  const items = Array.from(listed.matchAll(/^\| \[`?([^\]`]+)`?\]\(([^)#/]+\.md)\)/gm), ([, text, file]) => ({
    text,
    link: link + addressOf(file),
  }));
  return items.length === 0 ? {} : { collapsed: true, items };
}

function addressOf(file) {
  return file.replace(/README\.md$/, '').replace(/\.md$/, '');
}

function isOutside(href, env) {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return false;
  return posix.join(posix.dirname(env.relativePath ?? ''), href).startsWith('..');
}

/** Links to files beside `docs/` have no page here, and a `README.md` is the index of its folder. */
function adaptLinks(md) {
  md.core.ruler.push('adapt_links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isOpen = false;
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href !== null) token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'));
        const isLink = href !== null && isOutside(href, env);
        if (isLink || (isOpen && token.type === 'link_close')) {
          isOpen = isLink;
          token.tag = 'span';
          token.attrs = null;
        }
      }
    }
  });
}

/** Complete examples have a link that opens them in the playground. */
function openExamples({ renderer: { rules } }) {
  const { fence } = rules;
  rules.fence = (tokens, at, ...given) => {
    const html = fence(tokens, at, ...given);
    const project = projectOf(tokens[at].info, tokens[at].content);
    if (project === null) return html;
    return `${html}<p><a href="/try/#${fragmentOf(project)}" target="_self">Open in the playground</a></p>`;
  };
}

function adapt(md) {
  adaptLinks(md);
  openExamples(md);
}

export default {
  title: 'edgeproof',
  description: 'A cloud edge in a box',
  // A copy: pages outside of this folder would not find its packages.
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  // Parts of the page `fidelity.md`.
  srcExclude: ['fidelity/**'],
  rewrites: (file) => file.replace(/README\.md$/, 'index.md'),
  cleanUrls: true,
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath.startsWith('reference/') ? { frontmatter: { ...frontmatter, pageClass: 'reference' } } : {},
  // Browsers ask for an icon otherwise.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { linkify: false, anchor: { slugify: anchorOf }, config: adapt },
  themeConfig: {
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Reference', link: '/reference/edge_file', activeMatch: '^/reference/' },
      // A page of its own, which VitePress must not take over.
      { text: 'Playground', link: '/try/', target: '_self' },
    ],
    sidebar,
    search: { provider: 'local' },
    outline: [2, 3],
  },
};
