import { pathToFileURL } from 'node:url';

import { celEnv, celFunc, CelScalar, listType, parse as parseBufbuild, plan } from '@bufbuild/cel';
import { Environment } from '@marcbachmann/cel-js';

import { compile, tracer } from '../src/cel/index.ts';
import { compileTemplate } from '../src/policy/env/template.ts';
import { bufbuildActivation, celJsActivation, makeRequests, RULES, SCOPE } from './expression_rules.ts';
import type { Request, Rule } from './expression_rules.ts';
import { compare, render, row } from './measure.ts';
import type { BenchRow, BenchSection, Contestant } from './measure.ts';

const REQUESTS = 64;
const MASK = REQUESTS - 1;

/** Each contestant evaluates the rule on the same requests alternately. Results are compared before the measurement. */
function contestants(rule: Rule, requests: readonly Request[]): Record<string, Contestant> {
  const { program, diagnostics } = compile(rule.source, SCOPE);
  if (program === undefined) throw new Error(diagnostics.map((one) => one.message).join('; '));
  const traced = tracer(program);
  const evaluate = templateOf(rule) ?? program.evaluate;
  const celJs = celJsProgram(rule);
  const bufbuild = bufbuildProgram(rule);
  const forCelJs = requests.map(celJsActivation);
  const forBufbuild = requests.map(bufbuildActivation);
  for (const [index, request] of requests.entries()) {
    const answers = [
      evaluate(request),
      traced.evaluate(request),
      rule.byHand(request),
      celJs(forCelJs[index]!),
      bufbuild(forBufbuild[index]!),
    ];
    if (answers.some((answer) => answer !== answers[0])) {
      throw new Error(`${rule.name}: answers differ: ${answers.map(String).join(', ')}`);
    }
  }
  return {
    ours: (turn) => evaluate(requests[turn & MASK]!),
    'cel-js': (turn) => celJs(forCelJs[turn & MASK]!),
    bufbuild: (turn) => bufbuild(forBufbuild[turn & MASK]!),
    'by hand': (turn) => rule.byHand(requests[turn & MASK]!),
    traced: (turn) => traced.evaluate(requests[turn & MASK]!),
  };
}

function templateOf({ template: source }: Rule): ((request: Request) => unknown) | undefined {
  if (source === undefined) return undefined;
  const { template, diagnostics } = compileTemplate(source, SCOPE);
  if (template === undefined) throw new Error(diagnostics.map((one) => one.message).join('; '));
  return template.evaluate;
}

function celJsProgram(rule: Rule): (activation: object) => unknown {
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  // The peers have no plan-time specialisation: their function receives prepared ranges.
  const { inRanges } = rule;
  if (inRanges !== undefined) environment.registerFunction('inCidrRanges(dyn, list): bool', inRanges);
  return environment.parse(rule.source);
}

function bufbuildProgram(rule: Rule): (activation: object) => unknown {
  const { inRanges } = rule;
  const funcs =
    inRanges === undefined
      ? []
      : [celFunc('inCidrRanges', [CelScalar.STRING, listType(CelScalar.STRING)], CelScalar.BOOL, inRanges)];
  return plan(celEnv({ funcs }), parseBufbuild(rule.source)) as unknown as (activation: object) => unknown;
}

/** Typical expressions of policies, compared with two CEL packages and a hand-written closure. */
export async function run(): Promise<BenchSection> {
  const requests = makeRequests(REQUESTS);
  const rows: BenchRow[] = RULES.map((rule) => row(rule.name, compare(contestants(rule, requests))));
  const typical = RULES[0]!;
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  const bufbuild = celEnv();
  rows.push(
    row(
      'parse, check and plan of the first',
      compare({
        ours: () => compile(typical.source, SCOPE),
        'cel-js': () => environment.parse(typical.source),
        bufbuild: () => plan(bufbuild, parseBufbuild(typical.source)),
      }),
    ),
  );
  return {
    title: 'expressions, one evaluation',
    floors: ['by hand'],
    between: 'a tree of functions that runs any expression, and errors and absent fields as values',
    rows,
    notes: [
      'traced: ours with the value of every sub-expression recorded',
      'cel-js parses without checking types; its and bufbuild’s range function gets its ranges ready made',
    ],
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.stdout.write(render(await run()));
}
