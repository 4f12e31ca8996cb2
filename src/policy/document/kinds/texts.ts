import { suggest } from '../../../diagnostics/suggest.ts';
import { didYouMean, quoted, shown } from '../../../document/words.ts';
import { compilePattern, isPatternProblem } from '../../../regex/pattern.ts';
import type { PatternProblem } from '../../../regex/pattern.ts';
import type { Checking } from '../checking.ts';
import { rewordValue } from '../repairs.ts';
import { fieldName, listed } from '../words.ts';
import type { KindCheck } from './kind.ts';

/** One bare expression: left to the expression engine. */
export const expression: KindCheck = {
  text: ({ texts }, shape, text, pointer) => {
    texts.push({ reads: 'expression', pointer, text, shape });
    return true;
  },
};

const HINTS: Readonly<Record<PatternProblem['reason'], string>> = {
  look_around: 'match more, and keep parts with groups: $1',
  back_reference: 'write the alternatives out',
  too_long: 'split it into several rules',
  too_large: 'use smaller repetitions',
  syntax: 'patterns have the syntax of RE2',
};

/** A pattern of RE2 syntax. */
export const pattern: KindCheck = {
  text: ({ report }, _shape, text, pointer) => {
    const answer = compilePattern(text);
    if (!isPatternProblem(answer)) return true;
    const { offset, says } = answer;
    const within =
      offset === undefined ? undefined : { span: { start: offset, end: offset + 1 }, decoded: text };
    report(2261, pointer, `${quoted(fieldName(pointer))} is not a pattern: ${says}`, {
      within,
      hint: HINTS[answer.reason],
    });
    return false;
  },
};

/** PEM texts begin with a line of their own (RFC 7468 §2). */
export const pem: KindCheck = {
  text: ({ report }, _shape, text, pointer) => {
    if (/-----BEGIN [A-Z0-9 ]+-----[\s\S]+-----END [A-Z0-9 ]+-----/.test(text)) return true;
    const hint = /\\n/.test(text)
      ? "line breaks are written '\\n' here; use a block: |"
      : 'it begins with -----BEGIN';
    report(2228, pointer, `${quoted(fieldName(pointer))} is not a PEM text (RFC 7468)`, { hint });
    return false;
  },
};

/** The id or name of an IP policy. */
export const ipPolicy: KindCheck = {
  text: ({ report, policy, setting }, _shape, text, pointer) => {
    const { ipPolicies } = setting;
    if (ipPolicies === undefined) {
      const says = `${quoted(text)} is looked up when an edge file carries the policy`;
      report('policy.unresolved_reference', pointer, says);
      return true;
    }
    if (ipPolicies.includes(text)) return true;
    const meant = suggest(text, ipPolicies);
    report(2216, pointer, `there is no IP policy ${quoted(text)}`, {
      hint: didYouMean(meant),
      notes: [`IP policies: ${listed(ipPolicies)}`],
      fix: meant === undefined ? undefined : rewordValue(policy, pointer, meant, false),
    });
    return false;
  },
};

/** Schemes of URLs by action; HTTP for all others. */
const SCHEMES: Readonly<Record<string, readonly string[]>> = {
  'forward-internal': ['https:', 'http:', 'tls:', 'tcp:'],
};
const HTTP_SCHEMES = ['https:', 'http:'];

/** A URL that can be asked. */
export const url: KindCheck = {
  text: (checking, _shape, text, pointer) => {
    const { report, type, policy } = checking;
    const name = quoted(fieldName(pointer));
    const schemes = SCHEMES[type] ?? HTTP_SCHEMES;
    const parsed = URL.parse(text);
    if (parsed === null || parsed.host === '' || !schemes.includes(parsed.protocol)) {
      const isBare = /^[a-z0-9.-]+(?::\d+)?(?:\/|$)/i.test(text) && URL.canParse(`https://${text}`);
      const wanted = schemes.map((scheme) => `${scheme}//`).join(', ');
      report(2226, pointer, `${name} has to be a URL that begins with ${wanted}, not ${shown(text)}`, {
        hint: isBare ? `did you mean https://${text}?` : `such as ${schemes[0]}//app.internal`,
        fix: isBare ? rewordValue(policy, pointer, `https://${text}`, false) : undefined,
      });
      return false;
    }
    return checkHost(checking, parsed, pointer);
  },
};

/** Forwarding reaches internal endpoints only. */
function checkHost({ report, type }: Checking, { hostname }: URL, pointer: string): boolean {
  if (type !== 'forward-internal' || hostname.toLowerCase().endsWith('.internal')) return true;
  const says = `forward-internal reaches hosts that end in '.internal' only, not ${quoted(hostname)}`;
  report(2204, pointer, says, { hint: `${hostname.split('.')[0]}.internal?` });
  return false;
}
