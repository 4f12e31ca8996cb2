import { styleText } from 'node:util';
import type { Command } from 'commander';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { ANALYSIS_CODES, BASES } from '../analysis/codes.ts';
import { EDGE_CODES } from '../edge/document/codes.ts';
import { type Branding, brandingOf } from '../engine/branding.ts';
import { ENGINE_REASONS, STREAM_REASONS } from '../engine/refusals.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { DocumentCode } from '../policy/codes/code.ts';
import { circumstancesOf, findCode, shortened } from '../policy/codes/page.ts';
import type { CodePage, OtherCodes } from '../policy/codes/page.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { EXIT } from './exit_codes.ts';
import { wantsColor } from './terminal.ts';

/** `edgeproof explain-code CODE`: what a code means, with an example, without a network. */
export function register(command: Command): void {
  command
    .argument('<code>', 'code, such as ERR_SERVICE_2207, 2207, policy.legacy_name or edge.unknown_key')
    .option('--service-name <name>', 'name of the service in codes', 'service')
    .action((code: string, options: { serviceName: string }) => {
      process.exitCode = explainCode(code, brandingOf(options.serviceName));
    });
}

function explainCode(written: string, branding: Branding): number {
  const found = findCode(written, branding, otherCodes());
  if (found.kind === 'unknown') {
    const guess = found.didYouMean === undefined ? '' : `; did you mean ${found.didYouMean}?`;
    process.stderr.write(`unknown code '${written}'${guess}\n`);
    return EXIT.usage;
  }
  process.stdout.write(`${pageOf(found, branding, wantsColor(process.stdout))}\n`);
  return EXIT.ok;
}

/** Codes of edge files and of connections, and the numbers that the engine gives. */
function otherCodes(): OtherCodes {
  const sentences = [
    ...reasonsOfFilters(),
    ...Object.entries({ ...STREAM_REASONS, ...EDGE_CODES }).map(
      ([code, { message }]) => [code, message] as const,
    ),
    ...Object.entries(ANALYSIS_CODES).map(
      ([code, { message, basis, example, cure }]) =>
        [code, `${message}\n\n${BASES[basis]}\n\nFor example: ${example}.\n\nThe cure: ${cure}.`] as const,
    ),
  ];
  const numbers = Object.entries(ENGINE_REASONS).flatMap(([reason, { code, message, status }]) =>
    code === null
      ? []
      : [{ number: code, title: reason, means: `The response has status ${status}: ${message}.` }],
  );
  return { sentences: Object.fromEntries(sentences), numbers };
}

/** Reasons of modules and actions, as traces show them. A module and an action may have one in common. */
function reasonsOfFilters(): (readonly [code: string, sentence: string])[] {
  const found = new Map<string, string>();
  const add = (code: string, sentence: string): void => {
    const first = found.get(code);
    found.set(code, first === undefined ? sentence : `${first}\n${sentence}`);
  };
  for (const { type, reasons } of MODULE_FACTS.values()) {
    for (const [code, { message }] of Object.entries(reasons)) add(code, `Module ${type}: ${message}.`);
  }
  for (const { type, reasons } of ACTION_FACTS.values()) {
    const prefix = type.replaceAll('-', '_');
    for (const [code, message] of Object.entries(reasons))
      add(`${prefix}.${code}`, `Action ${type}: ${message}.`);
  }
  return [...found];
}

const WHERE = {
  document: 'Reported when a policy is checked.',
  runtime: 'Sent at run time, in the response header for error codes.',
  service: 'Reported by the service only, never by edgeproof.',
  sentence: '',
} as const;

function pageOf(page: CodePage, branding: Branding, color: boolean): string {
  const bold = (text: string): string => (color ? styleText('bold', text, { validateStream: false }) : text);
  if (page.kind === 'sentence') return `${bold(page.code)}\n\n${page.message}`;
  const { code, row, kind } = page;
  const parts = [`${bold(code)}  ${row.title}`, row.means, WHERE[kind]];
  if (kind === 'document') parts.push(...exampleOf(row, branding, color, bold));
  return parts.join('\n\n');
}

function exampleOf(
  row: DocumentCode,
  branding: Branding,
  color: boolean,
  bold: (text: string) => string,
): string[] {
  const { bad, good, attachedTo, ipPolicies, plan, hosts, strict } = row;
  const setting = {
    branding,
    ...(attachedTo && { attachedTo }),
    ...(strict && { strict }),
    ...(ipPolicies && { ipPolicies }),
    ...(hosts && { hosts }),
    ...(plan && { plan }),
  };
  const number = branding.errorCode(row.number);
  const { diagnostics } = checkPolicy({ name: 'policy.yaml', text: bad }, setting);
  const said = renderDiagnostics(
    diagnostics.filter(({ code }) => code === number),
    { color },
  );
  const circumstances = circumstancesOf(row);
  return [
    bold(circumstances === undefined ? 'For example' : `For example, ${circumstances}`),
    indented(shortened(bad)),
    bold('The finding'),
    indented(said.trimEnd()),
    bold('The fix'),
    indented(shortened(good)),
  ];
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
