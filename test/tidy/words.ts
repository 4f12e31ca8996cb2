import { positionAt } from '../../src/diagnostics/lines.ts';
import type { Breach, Node, Rule, SourceFile } from './tree.ts';

/** Phrases that comments, strings and pages avoid, with what to write instead. */
// table: phrases
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [
    /\b(?:nobody|somebody|everybody|anybody|whoever|whomever)\b/i,
    'name the user, client, caller or component',
  ],
  [/(?<!\bthere )\b(?:is|are|was|were) none\b/i, 'say what is absent, empty or invalid'],
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|other\b|different\b)[a-z]/i,
    'write `is not a …` or `has no …`',
  ],
  [/\bnone to be had\b/i, 'write `there is none`'],
  [/\blooser (?:reader|reading)/i, 'write `more lenient parser` or `more lenient server`'],
  [/\bspoken (?:here|of|to)\b|\bspeaks? of\b/i, 'write `supported`, `uses` or `mentions`'],
  [/\b(?:is|are|was|were) said\b/i, 'write `is reported` or `is sent`'],
  [/\bwarn(?:s|ed) of\b/i, 'write `warns about`'],
  [/\b(?:unasked|for ever)\b/i, 'write `unsolicited` or `forever`'],
  [/\bin force\b/i, 'write `active` or `current`'],
  [/\bbe it\b/i, 'write `whether` or `including`'],
  [/\bhears? of\b/i, 'write `is notified of`'],
  [/\blets? go of\b/i, 'write `releases`'],
  [/\bstands? (?:in|at|beside|behind|below|still|there)\b/i, 'write `is`, `follows` or `is paused`'],
  [/\bnot any more\b/i, 'write `no longer`'],
  [/\b(?:comes?|came|coming) about\b/i, 'write `occurs` or `happens`'],
  [/\bmakes? it happen\b/i, 'write what causes it'],
  [/\b(?:is|are|was|were) told\b/i, 'write `is reported`, `is shown` or `is notified`'],
  [/\btells? of\b/i, 'write `reports`'],
  [/\bunder way\b/i, 'write `in flight` or `in progress`'],
  [/\bits kin\b/i, 'write `and others`'],
  [/\b(?:says|said) no\b/i, 'write `denies` or `denied`'],
  [/\b(?:stands?|stood) in for\b/i, 'write `replaces`'],
  [/\bput in force\b/i, 'write `activated`'],
  [/\bdoes not hold\b/i, 'write `fails`, `is false` or `is not met`'],
  [/\b(?:to be|cannot be) had\b/i, 'write `available` or `unavailable`'],
  [/\banew\b/i, 'write `again` or `new`'],
  [/\bfor want of\b/i, 'write `without` or `because … is missing`'],
  [/\b(?:comes?|came|arrives?|arrived) whole\b/i, 'write `completely`'],
  [/\b(?:is|are|was|were|be) let in\b/i, 'write `authorized` or `allowed`'],
  [/\bis had\b/i, 'write `is obtained`'],
  [/\bcounts? (?:no|not any) more\b/i, 'write `is no longer valid`'],
  [/\b(?:goes|go|went) on with\b/i, 'write `continues`'],
  [/\bthe sooner\b|\ball the same\b/i, 'write `earlier` or `nevertheless`'],
  [/\btaken (?:apart|back)\b/i, 'write `parsed` or `deleted`'],
  [/\bheard of\b/i, 'write `known` or `received`'],
  [/\blooked at\b/i, 'write `checked`, `read` or `compared`'],
  [/\bmade ready\b/i, 'write `prepared`'],
  [/\bleft out whole\b/i, 'write `left out` or `skipped entirely`'],
  [/\bfound out\b/i, 'write `detected`, `noticed` or `the result`'],
  [/\bfor so long\b/i, 'name the time, or write `for this time`'],
  [/\b(?:has|have|had) in it\b/i, 'write `contains`'],
  [/\ball else\b/i, 'write `everything else`'],
  [/\bwhich (?:is|are) there while\b/i, 'write `which exists even if`'],
  [/\bmade of it by\b/i, 'write `applied to it`'],
];

// A text may have several spaces, or be wrapped.
const PATTERNS = PHRASES.map(
  ([{ source }, instead]) => [new RegExp(source.replaceAll(' ', ' +'), 'i'), instead] as const,
);

/** Texts of others, and names that systems give, as they are. */
// table: quotations
const QUOTATIONS: readonly string[] = [
  "It's a Secret to Everybody",
  'Nobody inspects the spammish repetition',
  'as the user nobody',
];

/** Breaks the rule on purpose. */
const PLANTED = 'test/tidy/planted.ts';

/** Comments, messages, names of tests and pages are plain English. */
export const textsArePlain: Rule = ({ sources, markdown, others }) => [
  ...sources.filter(({ path }) => path !== PLANTED).flatMap((file) => inSource(file)),
  ...[...markdown, ...others].flatMap(({ path, text }) => inPage(path, text)),
];

function inSource({ path, lines, comments, program }: SourceFile): Breach[] {
  const texts = [...comments.map(({ value, start }) => ({ text: value, start })), ...stringsIn(program)];
  return texts.flatMap(({ text, start }) => {
    // A comment that is wrapped has a line break and an asterisk between two words.
    const found = breachOf(text.replaceAll(/\s+(?:\*\s+|\/\/\s+)?/g, (gap) => ' '.repeat(gap.length)));
    return found === null
      ? []
      : [{ path, line: positionAt(lines, start + found.at).line, message: found.message }];
  });
}

/** Strings of a program that are sentences: those with a space. */
function stringsIn(node: unknown): { readonly text: string; readonly start: number }[] {
  if (Array.isArray(node)) return node.flatMap((each) => stringsIn(each));
  if (node === null || typeof node !== 'object') return [];
  const { type, start, value } = node as Node;
  const text = type === 'TemplateElement' ? (value as { raw: string }).raw : value;
  if ((type === 'Literal' || type === 'TemplateElement') && typeof text === 'string') {
    return text.includes(' ') ? [{ text, start }] : [];
  }
  return Object.values(node).flatMap((each) => stringsIn(each));
}

function inPage(path: string, text: string): Breach[] {
  return text.split('\n').flatMap((line, index) => {
    const found = breachOf(line);
    return found === null ? [] : [{ path, line: index + 1, message: found.message }];
  });
}

function breachOf(quoting: string): { readonly at: number; readonly message: string } | null {
  const text = QUOTATIONS.reduce(
    (left, quoted) => left.replaceAll(quoted, ' '.repeat(quoted.length)),
    quoting,
  );
  for (const [phrase, instead] of PATTERNS) {
    const found = phrase.exec(text);
    if (found !== null) {
      const message = `'${found[0].replaceAll(/ +/g, ' ')}' is not plain English; ${instead}`;
      return { at: found.index, message };
    }
  }
  return null;
}
