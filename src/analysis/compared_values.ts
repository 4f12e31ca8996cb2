import { type Node, walkNodes } from '../cel/ast.ts';
import { parse } from '../cel/program.ts';
import { isOrigin } from './browser_values.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import type { Found } from './finding.ts';

/** Codes of countries (ISO 3166-1 alpha-2), and XK, which databases use for Kosovo. */
const CODES = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
    'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP ' +
    'KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ ' +
    'NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW ' +
    'SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ ' +
    'UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW XK'
  ).split(' '),
);

function isCountry(code: string): boolean {
  return CODES.has(code);
}

/** Constants in expressions that what they are compared with never is, or that only look like a range of it. */
export function comparedValues({ document, place }: ExaminedPolicy): readonly Found[] {
  const { on_http_request: requests, on_http_response: responses } = document.phases;
  return [...requests, ...responses].flatMap(({ expressions }) =>
    expressions.flatMap(({ text, pointer }) => {
      const parsed = parse(text);
      const found = 'ast' in parsed ? inExpression(parsed.ast.root, text, pointer) : [];
      // Facts of the file may have codes of their own.
      return found.filter(
        ({ code }) => code !== 'analysis.unknown_country' || place.model.config.facts === undefined,
      );
    }),
  );
}

function inExpression(root: Node, source: string, pointer: string): readonly Found[] {
  const textOf = ({ span }: Node): string => source.slice(span.start, span.end);
  const names = namesIn(root, textOf);
  const found = new Map<string, Found>();
  walkNodes(root, (node) => {
    const test = testOf(node);
    if (test === null) return;
    const code = codeOf(names.get(textOf(test.subject)) ?? textOf(test.subject), test);
    if (code !== null) found.set(`${code} ${textOf(node)}`, { code, pointer, detail: `\`${textOf(node)}\`` });
  });
  return [...found.values()];
}

/** What the names of `exists` and the like stand for, by the text of their lists. */
function namesIn(root: Node, textOf: (node: Node) => string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  walkNodes(root, (node) => {
    if (node.kind === 'macro') for (const { name } of node.variables) names.set(name, textOf(node.target));
    if (node.kind === 'bind') names.set(node.variable.name, textOf(node.value));
  });
  return names;
}

interface Test {
  readonly subject: Node;
  readonly how: string;
  readonly texts: readonly string[];
}

/** A comparison of something with constant texts. */
function testOf(node: Node): Test | null {
  if (node.kind === 'binary' && ['==', '!=', 'in'].includes(node.operator)) {
    const [subject, other] = isText(node.left) ? [node.right, node.left] : [node.left, node.right];
    if (node.operator === 'in' && subject === node.right)
      return { subject, how: '==', texts: textsIn(other) };
    const texts = textsIn(other);
    return texts.length === 0 ? null : { subject, how: '==', texts };
  }
  if (node.kind !== 'call' || node.target === undefined) return null;
  const texts = node.args.flatMap(textsIn);
  return texts.length === 0 ? null : { subject: node.target, how: node.name, texts };
}

function isText(node: Node): boolean {
  return node.kind === 'literal' && typeof node.value === 'string';
}

function textsIn(node: Node): readonly string[] {
  if (node.kind === 'list') return node.elements.flatMap((element) => textsIn(element.node));
  return node.kind === 'literal' && typeof node.value === 'string' ? [node.value] : [];
}

function codeOf(subject: string, { how, texts }: Test): Found['code'] | null {
  if (/\bgeo\.country_code$/.test(subject))
    return how === '==' && texts.some((text) => !isCountry(text)) ? 'analysis.unknown_country' : null;
  if (/["']origin["']/i.test(subject))
    return how === '==' && texts.some((text) => text !== '' && !isOrigin(text))
      ? 'analysis.not_an_origin'
      : null;
  if (subject === 'conn.client_ip') return isRangeAsText(how, texts) ? 'analysis.address_as_text' : null;
  const isIdentity = /\b(?:common_name|subject_cn|email|username|sub)$/.test(subject);
  return isIdentity && how === 'matches' && texts.every((text) => /^[\w.@-]+$/.test(text))
    ? 'analysis.unanchored_pattern'
    : null;
}

/** Whether a part of an address is compared that ends within a number, or may be anywhere in it. */
function isRangeAsText(how: string, texts: readonly string[]): boolean {
  if (how === 'contains' || how === 'endsWith') return true;
  if (how === 'startsWith') return texts.some((text) => /[0-9a-f]$/i.test(text));
  // An unescaped dot is any character, and without its anchors a pattern is found in the middle.
  return how === 'matches' && texts.some((text) => !text.startsWith('^') || /\d(?<!\\)\.\d/.test(text));
}
