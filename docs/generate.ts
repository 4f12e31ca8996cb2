import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { referencePages } from './reference_pages/pages.ts';

/** Writes every page that is made from the code: the last step of `npm run generate`. `npm run check` fails when one of them differs. */
const root = new URL('..', import.meta.url);

// A page of what no longer exists must not stay.
const pages = await referencePages();
rmSync(new URL('docs/reference/', root), { recursive: true, force: true });
for (const [path, text] of pages) write(`docs/reference/${path}`, text);
write('docs/fidelity.md', fidelity());

function write(path: string, text: string): void {
  const url = new URL(path, root);
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, text);
}

/** One page of all rooms' tables, so that a reader looks in one place. */
function fidelity(): string {
  const folder = new URL('fidelity/', import.meta.url);
  const rooms = readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) =>
      readFileSync(new URL(file, folder), 'utf8').trim().replace(/^# /, '## ').replaceAll('](../', ']('),
    );
  const head =
    '# Fidelity\n\nGenerated from `docs/fidelity/`; do not edit. Where each behaviour comes from: *specified* by the ' +
    'management API’s\nspecification or by the standard of its subject (RFCs, CEL, SAML), *documented* by services of this kind, or *our choice*\nwhere all are silent.\n';
  return `${head}\n${rooms.join('\n\n')}\n`;
}
