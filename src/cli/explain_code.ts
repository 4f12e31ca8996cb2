import { styleText } from 'node:util';
import type { Command } from 'commander';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { type Branding, brandingOf } from '../engine/branding.ts';
import type { DocumentCode } from '../policy/codes/code.ts';
import { type OtherCodes, circumstancesOf, findCode, shortened } from '../policy/codes/page.ts';
import type { CodePage } from '../policy/codes/page.ts';
import { otherCodes } from './code_sentences.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, USUAL_SERVICE, serviceNameOption } from './service_name.ts';
import { wantsColor } from './terminal.ts';
import { textOrJson } from './reporter_option.ts';
import { stderr, stdout } from './output.ts';

/** `edgeproof explain-code CODE`: what a code means, with an example, without a network. */
export function register(command: Command): void {
  textOrJson(serviceNameOption(command))
    .argument('<code>', 'code, such as ERR_SERVICE_2207, 2207, policy.legacy_name or edge.unknown_key')
    .action(
      async (
        code: string,
        { serviceName = USUAL_SERVICE, json = false }: ServiceOptions & { json?: boolean },
      ) => {
        process.exitCode = await explainCode(code, brandingOf(serviceName), json);
      },
    );
}

async function explainCode(written: string, branding: Branding, isJson: boolean): Promise<number> {
  const others = otherCodes();
  const first = findCode(written, branding, others);
  const found =
    first.kind === 'unknown' && /\d/.test(written) ? await ofApi(written, branding, others) : first;
  if (found.kind === 'unknown') {
    const guess =
      found.didYouMean === undefined
        ? '; a finding prints its code before its message, an error response in its body'
        : `; did you mean ${found.didYouMean}?`;
    stderr.write(`unknown code '${written}'${guess}\n`);
    return EXIT.usage;
  }
  stdout.write(
    isJson ? `${JSON.stringify(found, null, 2)}\n` : `${pageOf(found, branding, wantsColor(stdout))}\n`,
  );
  return EXIT.ok;
}

/** The number may be one of the management API, whose resources are only loaded for it. */
async function ofApi(written: string, branding: Branding, others: OtherCodes) {
  const { apiNumbers } = await import('../control/api_numbers.ts');
  return findCode(written, branding, { ...others, numbers: [...others.numbers, ...apiNumbers()] });
}

const WHERE = {
  document: 'Reported when a policy is checked.',
  runtime:
    'Sent at run time: in the response header for error codes, or as `error_code` of the management API.',
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
