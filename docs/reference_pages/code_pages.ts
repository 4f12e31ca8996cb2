import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { EDGE_CURES } from '../../src/cli/cures/edge_cures.ts';
import { FILE_CURES } from '../../src/cli/cures/file_cures.ts';
import type { Cures } from '../../src/cli/cures/cure.ts';
import { PROPERTY_CURES } from '../../src/cli/cures/property_cures.ts';
import { SCENARIO_CURES } from '../../src/cli/cures/scenario_cures.ts';
import { apiNumbers } from '../../src/control/api_numbers.ts';
import { ANALYSIS_CODES, BASES } from '../../src/analysis/codes.ts';
import { EDGE_CODES } from '../../src/edge/document/codes.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { ENGINE_REASONS, STREAM_REASONS } from '../../src/engine/refusals.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { codesMarkdown } from '../../src/policy/codes/page.ts';
import { PROPERTY_CODES } from '../../src/project_files/property_codes.ts';
import { SCENARIO_CODES } from '../../src/simulator/document/codes.ts';
import { testsByNumber } from '../code_tests.ts';
import { type Page, code, fenced, fileOf, page, part, sentence, table } from './markdown.ts';

const GENERATED = '<!-- Generated from the tables of codes by `npm run generate`. Do not edit. -->';
const BRANDING = brandingOf('service');
const BROKEN = new URL('../../fixtures/broken/', import.meta.url);

/** Pages about codes of findings, and reasons of decisions. */
export function codePages(): readonly Page[] {
  return [
    ['policy_codes.md', codesMarkdown(BRANDING, testsByNumber())],
    ['edge_codes.md', edgeCodes()],
    ['scenario_codes.md', scenarioCodes()],
    ['property_codes.md', propertyCodes()],
    ['analysis_codes.md', analysisCodes()],
    ['reasons.md', reasons()],
    ['api_codes.md', apiCodes()],
  ];
}

function edgeCodes(): string {
  return page(
    '# Codes of edge files',
    GENERATED,
    'What `edgeproof check` finds in an [edge file](edge_file.md). `edgeproof explain-code CODE` prints an explanation. The management API ' +
      'answers with the error number.',
    ...Object.entries(EDGE_CODES).map(([name, { severity = 'error', message, number, cure }]) =>
      part(
        `## ${code(name)}`,
        `${severity === 'error' ? 'Error' : 'Warning'}. ${sentence(message)}${
          number === undefined ? '' : ` Number in the management API: ${code(BRANDING.errorCode(number))}.`
        }`,
        exampleOf(name.replace(/^edge\./, '')),
        cureText(
          cure ?? EDGE_CURES[name] ?? FILE_CURES[name.replace(/^edge\./, '') as keyof typeof FILE_CURES],
        ),
      ),
    ),
  );
}

function cureText(cure: readonly [example: string, cure: string] | undefined): string {
  return cure === undefined ? '' : `The cure: ${sentence(cure[1])}`;
}

const LINES_LIMIT = 12;
const WIDTH_LIMIT = 160;

/** A broken file and the first finding about it, if it is short. */
function exampleOf(name: string): string {
  const file = readdirSync(BROKEN).find((each) => each === `${name}.yaml`);
  const report = new URL(`${name}.txt`, BROKEN);
  if (file === undefined || !existsSync(report)) return '';
  const first =
    readFileSync(report, 'utf8')
      .split(/^(?=\S+:\d+:\d+ )/m)
      .find((each) => each.includes(`edge.${name} `)) ?? '';
  const lines = first
    .replace(/\n\d+ (?:error|warning)s?(?:, .*)?\s*$/, '')
    .trimEnd()
    .split('\n');
  const isShort = lines.length <= LINES_LIMIT && lines.every((line) => line.length <= WIDTH_LIMIT);
  return isShort && first !== '' ? fenced('text', lines.join('\n')) : '';
}

type Codes = Readonly<Record<string, { readonly severity?: string; readonly message: string }>>;

/** The rows of a table of codes. */
function codeTable(codes: Codes, cures: Cures): string {
  const rows = Object.entries(codes).map(([name, { severity = 'error', message }]) => {
    const [example, cure] = cures[name]!;
    return [code(name), severity, sentence(message), sentence(example), sentence(cure)];
  });
  return table(['Code', 'Severity', 'Meaning', 'Example', 'Cure'], rows);
}

function scenarioCodes(): string {
  return page(
    '# Codes of scenario files',
    GENERATED,
    'What `edgeproof test`, `cover`, `sim` and `mutate` find in a [scenario file](scenario_file.md) before any case runs.',
    codeTable(SCENARIO_CODES, SCENARIO_CURES),
  );
}

function propertyCodes(): string {
  return page(
    '# Codes of property files',
    GENERATED,
    'What `edgeproof prove` and `check` find in [properties](../analysis.md) of a property file or an edge file.',
    codeTable(PROPERTY_CODES, PROPERTY_CURES),
  );
}

function apiCodes(): string {
  const rows = apiNumbers()
    .toSorted((one, other) => one.number - other.number)
    .map(({ number, title, means }) => [code(BRANDING.errorCode(number)), title, means]);
  return page(
    '# Error codes of the management API',
    GENERATED,
    'The member `error_code` of a response that refuses a request. `edgeproof explain-code NUMBER` prints the same. Refused configurations ' +
      'have the numbers of [edge files](edge_codes.md) and [policies](policy_codes.md).',
    table(['Code', '', 'Meaning and cure'], rows),
  );
}

function analysisCodes(): string {
  return page(
    '# Codes of exact analysis',
    GENERATED,
    'What `edgeproof check --exact` finds ([analysis](../analysis.md)).',
    ...Object.entries(ANALYSIS_CODES).flatMap(([name, { basis, message, example, cure }]) => [
      `## ${code(name)}`,
      `${message} ${BASES[basis]}`,
      `For example: ${sentence(example)}`,
      `The cure: ${sentence(cure)}`,
    ]),
  );
}

function reasons(): string {
  const engine = Object.entries(ENGINE_REASONS).map(([name, { message, status, code: number }]) => [
    code(name),
    status === 0 ? '' : String(status),
    number === null ? '' : code(BRANDING.errorCode(number)),
    sentence(message),
  ]);
  const streams = Object.entries(STREAM_REASONS).map(([name, { message }]) => [
    code(name),
    sentence(message),
  ]);
  const modules = [...MODULE_FACTS.values()].flatMap(({ type, reasons: own }) =>
    Object.entries(own).map(([name, { message }]) => [
      code(name),
      `[\`${type}\`](modules/${fileOf(type)})`,
      sentence(message),
    ]),
  );
  const actions = [...ACTION_FACTS.values()].flatMap(({ type, reasons: own }) =>
    Object.entries(own).map(([name, message]) => [
      code(`${type.replaceAll('-', '_')}.${name}`),
      `[\`${type}\`](actions/${fileOf(type)})`,
      sentence(message),
    ]),
  );
  return page(
    '# Reasons',
    GENERATED,
    'Why a request got its response: traces, `explain`, and `because: { reason: … }` in scenarios name the reason.',
    '## Requests',
    'Reasons of the edge itself. The error code is in the response header for error codes, and in the page.',
    table(['Reason', 'Status', 'Error code', 'Meaning'], engine),
    '## Connections of TLS and TCP edges',
    table(['Reason', 'Meaning'], streams),
    '## Modules',
    table(['Reason', 'Module', 'Meaning'], modules),
    '## Actions',
    table(['Reason', 'Action', 'Meaning'], actions),
  );
}
