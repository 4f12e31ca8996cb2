import { suggest } from '../../../diagnostics/suggest.ts';
import { didYouMean, quoted, shown } from '../../../diagnostics/message_text.ts';
import { type PatternProblem, compilePattern, isPatternProblem } from '../../../regex/pattern.ts';
import type { Checking, KindCheck } from '../checking.ts';
import { fieldName, listed } from '../message_text.ts';
import { isCidrProblem, parseRange } from '../../../net/cidr.ts';
import { rewordValue } from '../repairs.ts';

/** One expression: checked by the expression engine. */
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
  syntax: 'patterns use RE2 syntax',
};

/** A pattern of RE2 syntax. */
export const pattern: KindCheck = {
  text: ({ report }, _shape, text, pointer) => {
    const answer = compilePattern(text);
    if (!isPatternProblem(answer)) return true;
    const { offset, message } = answer;
    const within =
      offset === undefined ? undefined : { span: { start: offset, end: offset + 1 }, decoded: text };
    report(2261, pointer, `${quoted(fieldName(pointer))} is not a pattern: ${message}`, {
      within,
      hint: HINTS[answer.reason],
    });
    return false;
  },
};

/** PEM begins with a line of its own (RFC 7468 §2). */
export const pem: KindCheck = {
  text: ({ report }, _shape, text, pointer) => {
    if (/-----BEGIN [A-Z0-9 ]+-----[\s\S]+-----END [A-Z0-9 ]+-----/.test(text)) return true;
    const hint = /\\n/.test(text)
      ? "line breaks are written as '\\n' here; use a block: |"
      : 'it begins with -----BEGIN';
    report(2228, pointer, `${quoted(fieldName(pointer))} is not PEM (RFC 7468)`, { hint });
    return false;
  },
};

/** The id or name of an IP policy. */
export const ipPolicy: KindCheck = {
  text: ({ report, policy, setting }, _shape, text, pointer) => {
    const { ipPolicies } = setting;
    if (ipPolicies === undefined) {
      const message = `${quoted(text)} can only be checked in an edge file`;
      report('policy.unresolved_reference', pointer, message);
      return true;
    }
    if (ipPolicies.includes(text)) return true;
    const meant = suggest(text, ipPolicies);
    report(2216, pointer, `unknown IP policy ${quoted(text)}`, {
      hint: didYouMean(meant),
      notes: [`IP policies: ${listed(ipPolicies)}`],
      fix: meant === undefined ? undefined : rewordValue(policy, pointer, meant, false),
    });
    return false;
  },
};

/** A URL with one of some schemes. */
function urlWith(
  schemes: readonly string[],
  checkHost?: (checking: Checking, host: string, pointer: string) => boolean,
): KindCheck {
  return {
    text: (checking, _shape, text, pointer) => {
      const { report, policy } = checking;
      const name = quoted(fieldName(pointer));
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
      return checkHost?.(checking, parsed.hostname, pointer) ?? true;
    },
  };
}

/** A URL to which requests can be sent. */
export const url = urlWith(['https:', 'http:']);

/** A URL of an internal endpoint. */
export const internalUrl = urlWith(['https:', 'http:', 'tls:', 'tcp:'], ({ report, type }, host, pointer) => {
  if (host.toLowerCase().endsWith('.internal')) return true;
  const message = `${type} only reaches hosts that end in '.internal', not ${quoted(host)}`;
  report(2204, pointer, message, { hint: `${host.split('.')[0]}.internal?` });
  return false;
});

/** An address, or a range in strict notation. */
export const cidr: KindCheck = {
  text: ({ report, policy }, _shape, text, pointer) => {
    const answer = parseRange(text);
    if (!isCidrProblem(answer)) return true;
    const isGuess = answer.problem === 'host_bits';
    report(2217, pointer, answer.message, {
      hint: isGuess ? `write ${answer.suggestion}` : `such as ${answer.suggestion}`,
      // Whether the address or its range is meant is not certain.
      fix: isGuess ? rewordValue(policy, pointer, answer.suggestion, false) : undefined,
    });
    return false;
  },
};
