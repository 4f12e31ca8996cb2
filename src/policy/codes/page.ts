import { suggest } from '../../diagnostics/suggest.ts';
import type { Branding } from '../../engine/branding.ts';
import type { Plan } from '../document/setting.ts';
import type { ErrorNumber } from '../../filters/fact_values.ts';
import type { DocumentCode } from './code.ts';
import { DOCUMENT_CODES } from './document_codes.ts';
import { EXPRESSION_CODES } from './expression_codes.ts';
import { NUMBERS_WITHOUT_MEANING, OTHER_CODES, RUNTIME_CODES } from './runtime_codes.ts';
import { POLICY_WARNINGS } from './warnings.ts';

/** The documentation of a code. */
export type CodePage =
  /** Of the policy check; has an example. */
  | { readonly kind: 'document'; readonly code: string; readonly row: DocumentCode }
  /** Of a running policy, or of the service only. */
  | { readonly kind: 'runtime' | 'service'; readonly code: string; readonly row: ErrorNumber }
  /** A dotted code with one sentence. */
  | { readonly kind: 'sentence'; readonly code: string; readonly message: string };

export interface CodeNotFound {
  readonly kind: 'unknown';
  readonly didYouMean: string | undefined;
}

/** Sentences by dotted code. */
type Sentences = Readonly<Record<string, string>>;

/** Codes outside of policies, such as those of edge files and of the engine. */
export interface OtherCodes {
  readonly sentences: Sentences;
  readonly numbers: readonly ErrorNumber[];
}

/**
 * Finds a code in any spelling: `ERR_SERVICE_2207` with any service name, `2207`, or a dotted one such as
 * `policy.legacy_name`.
 */
export function findCode(
  written: string,
  branding: Pick<Branding, 'errorCode'>,
  others: OtherCodes = { sentences: {}, numbers: [] },
): CodePage | CodeNotFound {
  const digits = /^(?:ERR_\w+_)?(\d{1,5})$/i.exec(written.trim())?.[1];
  if (digits !== undefined) return findNumber(Number(digits), branding, others.numbers);
  const code = written.trim().toLowerCase();
  const sentences: Sentences = { ...POLICY_WARNINGS, ...EXPRESSION_CODES, ...others.sentences };
  if (Object.hasOwn(sentences, code)) return { kind: 'sentence', code, message: sentences[code]! };
  const all = [
    ...Object.keys(sentences),
    ...numbersOf(others.numbers).map((number) => branding.errorCode(number)),
  ];
  return { kind: 'unknown', didYouMean: suggest(written.trim(), all) };
}

function numbersOf(others: readonly ErrorNumber[]): number[] {
  return [...DOCUMENT_CODES, ...RUNTIME_CODES, ...others, ...OTHER_CODES].map(({ number }) => number);
}

function findNumber(
  number: number,
  branding: Pick<Branding, 'errorCode'>,
  others: readonly ErrorNumber[],
): CodePage | CodeNotFound {
  const code = branding.errorCode(number);
  const isIt = (row: ErrorNumber): boolean => row.number === number;
  const document = DOCUMENT_CODES.find(isIt);
  if (document !== undefined) return { kind: 'document', code, row: document };
  const runtime = [...RUNTIME_CODES, ...others].find(isIt);
  if (runtime !== undefined) return { kind: 'runtime', code, row: runtime };
  const other = OTHER_CODES.find(isIt);
  if (other !== undefined) return { kind: 'service', code, row: other };
  if (NUMBERS_WITHOUT_MEANING.includes(number)) return { kind: 'service', code, row: withoutMeaning(number) };
  const near = suggest(
    code,
    numbersOf(others).map((known) => branding.errorCode(known)),
  );
  return { kind: 'unknown', didYouMean: near };
}

function withoutMeaning(number: number): ErrorNumber {
  const means = 'The number is in the range of policies; its public page is empty.';
  return { number, title: 'No known meaning', means };
}

/** The circumstances of an example, in words; undefined if they do not matter. */
export function circumstancesOf({
  attachedTo,
  ipPolicies,
  plan,
  hosts,
  strict,
}: DocumentCode): string | undefined {
  if (strict) return 'with `check --strict`';
  if (plan !== undefined) return `by a plan: ${planInWords(plan)}`;
  if (ipPolicies !== undefined) return `in an edge file with the IP policies ${ipPolicies.join(' and ')}`;
  if (hosts !== undefined) return `on an edge of ${hosts.join(' and ')}`;
  if (attachedTo === undefined) return undefined;
  return `on ${ENDPOINTS[attachedTo]}`;
}

const ENDPOINTS = {
  https_edge: 'an HTTPS edge',
  tls_edge: 'a TLS edge',
  tcp_edge: 'a TCP edge',
  http: 'a local port',
  cloud_endpoint: 'a cloud endpoint',
  internal_endpoint: 'an internal endpoint',
} as const;

function planInWords({ withoutActions = [], ...counts }: Plan): string {
  const words = {
    rulesPerPolicy: 'rules',
    expressionsPerRule: 'expressions',
    actionsPerRule: 'actions',
  } as const;
  const limits = Object.entries(counts).map(
    ([key, count]) => `${words[key as keyof typeof words]}=${String(count)}`,
  );
  return [...limits, ...withoutActions.map((type) => `without=${type}`)].join(',');
}

/** Maximum length of an example's line in a page; longer lines only demonstrate a length limit. */
const LINE_LIMIT = 100;

/** Shortens lines for a page that are long only to exceed a limit. */
export function shortened(text: string): string {
  const lines = text.trimEnd().split('\n');
  const cut = lines.map((line) => (line.length <= LINE_LIMIT ? line : `${line.slice(0, LINE_LIMIT)}…`));
  if (cut.length <= LINES_LIMIT) return cut.join('\n');
  return [
    ...cut.slice(0, LINES_LIMIT - 2),
    `${/^ */.exec(cut[LINES_LIMIT - 2]!)![0]}# and so on, ${cut.length} lines in all`,
  ].join('\n');
}

const LINES_LIMIT = 16;

/** Tests that expect an error number, by number; paths from the root of the project. */
export type TestsByNumber = ReadonlyMap<number, readonly string[]>;

/** Every policy code as a Markdown page, which `docs/reference/policy_codes.md` is. */
export function codesMarkdown(
  branding: Pick<Branding, 'errorCode' | 'service'>,
  tests: TestsByNumber,
): string {
  const { errorCode } = branding;
  const parts = [
    '# Codes of traffic policies',
    'Generated from `src/policy/codes/`. `edgeproof explain-code CODE` shows the same on the command line.',
    '## Index',
    indexTable(errorCode, tests),
    '## Errors of the policy check',
    'A policy with one of these errors does not start.',
    ...DOCUMENT_CODES.flatMap((row) => documentSection(errorCode(row.number), row)),
    '## Warnings',
    'Valid, but probably a mistake, or out of date.',
    sentencesTable(POLICY_WARNINGS),
    '## Codes of expressions',
    `Errors among them are reported as \`${errorCode(2200)}\` or, inside a template, as \`${errorCode(2224)}\`.`,
    sentencesTable(EXPRESSION_CODES),
    '## Errors of running policies',
    numbersTable(RUNTIME_CODES, errorCode),
    '## Numbers of the service that policies here do not send',
    numbersTable(OTHER_CODES, errorCode),
    `The public page of ${NUMBERS_WITHOUT_MEANING.map((number) => `\`${errorCode(number)}\``).join(', ')} is empty: the number is never used here.`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Every number with the place of its explanation and its tests. */
function indexTable(errorCode: (number: number) => string, tests: TestsByNumber): string {
  const row = (number: number, title: string, link: string, test: string): readonly [number, string] => [
    number,
    `| \`${errorCode(number)}\` | [${cell(title)}](#${link}) | ${test} |`,
  ];
  const inDocuments = DOCUMENT_CODES.map(({ number, title }) =>
    row(number, title, anchorOf(`${errorCode(number)}: ${title}`), '`test/policy/document/codes.test.ts`'),
  );
  const atRunTime = RUNTIME_CODES.map(({ number, title }) => {
    const files = (tests.get(number) ?? []).map((file) => `\`${file}\``);
    return row(number, title, 'errors-of-running-policies', files.join(', '));
  });
  const notUsed = OTHER_CODES.map(({ number, title }) =>
    row(number, title, 'numbers-of-the-service-that-policies-here-do-not-send', 'not sent by policies'),
  );
  const rows = [...inDocuments, ...atRunTime, ...notUsed].toSorted(([one], [other]) => one - other);
  return ['| code | page | test |', '|---|---|---|', ...rows.map(([, text]) => text)].join('\n');
}

/** The anchor that Markdown readers give a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

function documentSection(code: string, row: DocumentCode): string[] {
  const circumstances = circumstancesOf(row);
  return [
    `### ${code}: ${row.title}`,
    row.means,
    `Refused${circumstances === undefined ? '' : ` ${circumstances}`}:`,
    fenced(shortened(row.bad)),
    'Corrected:',
    fenced(shortened(row.good)),
  ];
}

function fenced(yaml: string): string {
  return `\`\`\`yaml\n${yaml}\n\`\`\``;
}

function sentencesTable(sentences: Sentences): string {
  const rows = Object.entries(sentences).map(([code, message]) => `| \`${code}\` | ${cell(message)} |`);
  return ['| code | meaning |', '|---|---|', ...rows].join('\n');
}

function numbersTable(rows: readonly ErrorNumber[], errorCode: (number: number) => string): string {
  const lines = rows.map(
    ({ number, title, means }) => `| \`${errorCode(number)}\` | ${title} | ${cell(means)} |`,
  );
  return ['| code | | meaning |', '|---|---|---|', ...lines].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
