import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Checks the built pages: every internal link and anchor resolves, and no page loads anything from another host. */
const DIST = fileURLToPath(new URL('dist/', import.meta.url));
const pages = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.html'),
);
const texts = new Map(pages.map((page) => [page, readFileSync(join(DIST, page), 'utf8')]));
const ids = new Map(
  Array.from(texts, ([page, text]) => [
    page,
    new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id)),
  ]),
);

/** The file of an address, or undefined. */
function fileOf(path) {
  const plain = path.replace(/^\//, '');
  return [plain, `${plain}.html`, posix.join(plain, 'index.html')].find(
    (file) => texts.has(file) || (/\.[a-z0-9]+$/.test(file) && existsSync(join(DIST, file))),
  );
}

const problems = [];
if (!texts.has('try/index.html')) problems.push('the playground is missing');
let links = 0;
let projects = 0;
for (const [page, text] of texts) {
  if (page.startsWith('reference/') && !text.includes('class="Layout reference"'))
    problems.push(`${page} has no room for its tables`);
  for (const [, src] of text.matchAll(/<(?:script|img|iframe|source)\b[^>]* src="([^"]+)"/g))
    if (/^(?:https?:)?\/\//.test(src)) problems.push(`${page} loads ${src}`);
  for (const [, href] of text.matchAll(/<link\b[^>]* href="([^"]+)"/g))
    if (/^(?:https?:)?\/\//.test(href)) problems.push(`${page} loads ${href}`);
  for (const [, href] of text.matchAll(/<a\b[^>]* href="([^"]+)"/g)) {
    if (/^[a-z]+:/.test(href)) continue;
    links += 1;
    const [path, anchor] = decodeURI(href).split('#');
    const target = path === '' ? page : fileOf(posix.resolve('/', posix.dirname(page), path));
    if (target === undefined) problems.push(`${page}: ${href} does not exist`);
    // The fragment of the playground is a project.
    else if (target === 'try/index.html' && anchor) projects += 1;
    else if (anchor && !ids.get(target)?.has(anchor)) problems.push(`${page}: ${href} has no such heading`);
  }
}
const assets = readdirSync(join(DIST, 'assets')).filter((name) => name.endsWith('.css'));
for (const name of assets) {
  const found = /url\((?:["']?)(?:https?:)?\/\//.exec(readFileSync(join(DIST, 'assets', name), 'utf8'));
  if (found !== null) problems.push(`${name} loads from another host`);
}

if (projects === 0) problems.push('no example opens in the playground');
if (pages.length < 50 || links < 1_000) problems.push(`only ${pages.length} pages with ${links} links`);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else console.log(`${pages.length} pages, ${links} internal links: all resolve`);
