import { brandingOf } from '../../src/engine/branding.ts';
import { DOCUMENT_CODES } from '../../src/policy/codes/document_codes.ts';
import { anchorOf, code } from './markdown.ts';

const { errorCode } = brandingOf('service');

/** A link to the explanation of a code; `base` leads to `docs/reference/`. */
export function linkOfCode(finding: string | number, base: string): string {
  const written = typeof finding === 'number' ? errorCode(finding) : finding;
  return `[${code(written)}](${base}${addressOf(written)})`;
}

/** The same, named by what distinguishes the code on its page: `2215`, or `out_of_range`. */
export function shortLinkOfCode(written: string, base: string): string {
  return `[${written.replace(/^(?:ERR_[A-Z]+_|edge\.)/, '')}](${base}${addressOf(written)})`;
}

function addressOf(written: string): string {
  if (written.startsWith('edge.')) return `edge_codes.md#${anchorOf(written)}`;
  const row = DOCUMENT_CODES.find(({ number }) => errorCode(number) === written);
  return `policy_codes.md${row === undefined ? '' : `#${anchorOf(`${written}: ${row.title}`)}`}`;
}
