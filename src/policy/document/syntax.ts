import type { Diagnostic, Span } from '../../diagnostics/diagnostic.ts';
import type { Report } from './findings.ts';
import type { ReadRule } from './lint.ts';
import { type PolicyText, ownText } from './policy_text.ts';
import { quotedScalar } from '../../config_file/quoted_scalar.ts';
import type { Edit } from './text_map.ts';

const UNREADABLE = 2236;

/** Messages of the file reader in the wording for policies. */
const MESSAGES: Readonly<Record<string, string>> = {
  'policy.empty': 'the policy is empty',
  'policy.not_a_map': 'a policy is a map of phases such as on_http_request',
  'policy.several_documents': 'a second document begins here; a file holds one policy',
};

/** Reports YAML errors. */
export function reportProblems(policy: PolicyText, report: Report, problems: readonly Diagnostic[]): void {
  let isLost = false;
  for (const { code, message, pointer, span, hint, notes, fix } of problems) {
    // After the first error the parser reports every further token.
    if (isLost) break;
    isLost = code === 'policy.syntax' && LOST.test(message);
    const place = span && clamped(span.start, span.end, policy.text.length);
    const trap = place && trapAt(policy.text, place);
    if (trap?.isWhole === true) isLost = true;
    report(UNREADABLE, pointer, MESSAGES[code] ?? trap?.message ?? message, {
      span: trap?.edit.span ?? place,
      hint: trap?.hint ?? hint,
      notes: notes ?? [],
      fix:
        trap === undefined
          ? fix && { message: fix.message, safe: fix.safe, edit: fix }
          : { message: 'put it in quotes', safe: true, edit: trap.edit },
    });
  }
}

const LOST = /in YAML stream|at node end|missing after the colon|never closed/;

/** A spelling that YAML parses in an unexpected way, and its correction. */
interface Trap {
  readonly message?: string;
  readonly hint: string;
  readonly edit: Edit;
  /** Whether it explains all parser errors after it. */
  readonly isWhole: boolean;
}

function trapAt(text: string, place: Span): Trap | undefined {
  return quotesInFront(text, place) ?? templateInBraces(text, place);
}

/** A value with `${` inside braces or brackets, where YAML parses the brace as a map. */
function templateInBraces(text: string, { start }: Span): Trap | undefined {
  if (text[start] !== '{' || text[start - 1] !== '$') return undefined;
  let from = start - 1;
  while (from > 0 && !/[\s,{}[\]'"]/.test(text[from - 1]!)) from--;
  const found = /^[^\s,{}[\]'"]*\$\{[^{}\n]*\}(?:[^\s,{}[\]'"]|\$\{[^{}\n]*\})*/.exec(
    text.slice(from, from + 1000),
  );
  if (found === null) return undefined;
  return {
    message: 'inside YAML braces and brackets a template needs quotes',
    hint: 'put it in quotes',
    edit: { span: { start: from, end: from + found[0].length }, text: quotedScalar(found[0]) },
    isWhole: true,
  };
}

/** An expression such as `'x' in req.headers['y']`, whose first quotes YAML parses as those of the whole value. */
function quotesInFront(text: string, { start }: Span): Trap | undefined {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', start);
  const line = text.slice(from, to === -1 ? text.length : to);
  const found = /^(\s*-\s+)((["'])[^"'\\]*\3\s*(?:in|==|!=|\+|<|>)[^#]*?)\s*$/.exec(line);
  if (found === null) return undefined;
  const begin = from + found[1]!.length;
  const span = { start: begin, end: begin + found[2]!.length };
  return {
    message: 'YAML parses the quotes at the beginning as those of the whole value',
    hint: 'put the whole expression in quotes',
    edit: { span, text: quotedScalar(found[2]!) },
    isWhole: true,
  };
}

function clamped(start: number, end: number, length: number): { start: number; end: number } {
  const from = Math.min(Math.max(start, 0), length);
  return { start: from, end: Math.min(Math.max(end, from), length) };
}

/**
 * Reports each `!` that YAML parses as a tag. Before an expression it is a common mistake that the reader has
 * corrected; anywhere else it stays a tag.
 */
export function reportTags(policy: PolicyText, report: Report, rules: readonly ReadRule[]): void {
  if (policy.bangs.size === 0 && !LONE_BANG.test(ownText(policy).text)) return;
  const left = new Set(policy.bangs);
  for (const { text, pointer } of expressionsOf(rules)) {
    const span = policy.spanOf(pointer);
    if (span === undefined) continue;
    if (left.delete(span.start)) {
      report(2200, pointer, 'YAML parses `!` at the beginning as a tag, and the expression is lost', {
        hint: 'put the expression in quotes',
        fix: { message: 'put it in quotes', safe: true, edit: { span, text: quotedScalar(text) } },
      });
    } else if (followsLoneBang(policy.text, span.start)) {
      const start = policy.text.lastIndexOf('!', span.start);
      const written = { start, end: span.end };
      report(
        2200,
        pointer,
        'YAML parses the lone `!` as a tag and drops it: the condition would be the opposite',
        {
          span: written,
          hint: 'put the expression in quotes',
          fix: {
            message: 'put it in quotes',
            safe: true,
            edit: { span: written, text: quotedScalar(`!${text}`) },
          },
        },
      );
    }
  }
  for (const start of left) {
    const end = start + (/^!\S*/.exec(policy.text.slice(start, start + 200))?.[0].length ?? 1);
    const message = `'${policy.text.slice(start, end)}' is parsed as a YAML tag`;
    report(UNREADABLE, '', message, { span: { start, end }, hint: 'put the whole value in quotes' });
  }
}

function expressionsOf(rules: readonly ReadRule[]): { text: string; pointer: string }[] {
  return rules.flatMap(({ expressions, read }) => [
    ...expressions,
    ...read.flatMap((action) => (action?.texts ?? []).filter(({ reads }) => reads === 'expression')),
  ]);
}

/** What `followsLoneBang` looks for, anywhere in a text. */
const LONE_BANG = /(?:^|[\s[,:-])!\s/;

/** Whether an offset is preceded by a lone `!` and white space. */
function followsLoneBang(text: string, offset: number): boolean {
  let at = offset - 1;
  while (at >= 0 && /\s/.test(text[at]!)) at--;
  return at < offset - 1 && text[at] === '!' && (at === 0 || /[\s[,:-]/.test(text[at - 1]!));
}
