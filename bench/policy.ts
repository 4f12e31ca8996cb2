import { pathToFileURL } from 'node:url';
import type { RequestHead, Verdict, World } from '../src/engine/contract.ts';
import { brandingOf } from '../src/engine/branding.ts';
import { refusal } from '../src/engine/refusals.ts';
import { connectionOf, headOf } from '../src/engine/request_like.ts';
import { NO_FACTS } from '../src/policy/env/facts.ts';
import type { PolicyContext } from '../src/filters/action.ts';
import { compilePolicy } from '../src/policy/compile.ts';
import type { CompiledPolicy } from '../src/policy/compiled.ts';
import { checkPolicyValue } from '../src/policy/document/check.ts';
import { runRequest } from '../src/policy/phases.ts';
import { type BenchRow, type BenchSection, compare, render, row } from './measure.ts';
import { type PeerRequest, peersFor, prefixOf } from './policy_peers.ts';

const NOW_MS = 1_800_000_000_000;
const SIZES = [1, 10, 100, 1_000];
const HEADS = 64;
const MASK = HEADS - 1;

const branding = brandingOf('service');
const surroundings = {
  endpoint: { id: 'ep', host: 'shop.test', port: 443, protocol: 'https' as const },
  facts: NO_FACTS,
  secret: () => undefined,
};
const context: PolicyContext = {
  branding,
  surroundings: () => surroundings,
  ipPolicy: () => [],
  refusal: (status, code, message) => refusal(branding, status, code, message),
  isInternal: () => false,
  isInternalAddress: () => false,
  allowPrivateFetch: false,
  passUnsimulated: false,
  trace: 'decided',
};
const world: World = { nowMs: () => NOW_MS, random: () => 0.5 };
const connection = connectionOf({ clientIp: '203.0.113.9' }, 'https', NOW_MS);

/** A request like a browser's, to one path. */
function head(method: string, path: string, host = 'shop.test'): RequestHead {
  const made = headOf({
    method,
    url: `https://${host}${path}`,
    headers: {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0',
      accept: 'text/html,application/xhtml+xml',
      'accept-encoding': 'gzip, deflate, br',
      'accept-language': 'en-US,en;q=0.9',
      cookie: 'session=1; theme=dark',
      referer: 'https://shop.test/',
    },
  });
  if ('refused' in made) throw new Error(made.message);
  return made;
}

function policy(
  texts: readonly string[],
  options: { readonly trace?: 'full'; readonly index?: boolean } = {},
): CompiledPolicy {
  const rules = texts.map((text) => ({ expressions: [text], actions: [{ type: 'deny' }] }));
  const { document, diagnostics } = checkPolicyValue({ on_http_request: rules }, { branding });
  if (document === null) throw new Error(diagnostics[0]!.message);
  const { trace = 'decided', index = true } = options;
  return compilePolicy(document, { ...context, trace }, { index });
}

function decide(compiled: CompiledPolicy, request: RequestHead): Verdict {
  const verdict = runRequest(compiled, request, connection, null, world);
  if (verdict.verdict === 'ask') throw new Error('nothing is asked here');
  return verdict;
}

const guard = (at: number): string =>
  `req.method == 'POST' && req.url.path.startsWith('${prefixOf(at)}') && !hasReqHeader('x-api-key')`;

function conditions(rules: number, condition: (at: number) => string): string[] {
  return Array.from({ length: rules }, (_each, at) => condition(at));
}

/** Rules that each test a method, a prefix and a header: none applies, or the last one. */
function guardedRows(rules: number): BenchRow[] {
  const texts = conditions(rules, guard);
  const compiled = policy(texts);
  const plain = policy(texts, { index: false });
  const full = policy(texts, { trace: 'full' });
  const peers = peersFor(rules);
  return (['none applies', 'the last applies'] as const).map((what) => {
    const isRefused = what === 'the last applies';
    const at = isRefused ? rules - 1 : rules;
    const heads = Array.from({ length: HEADS }, (_each, turn) =>
      head('POST', `${prefixOf(at)}items/${turn}`),
    );
    const requests = heads.map(peerRequest);
    const contestants = {
      ours: (turn: number) => decide(compiled, heads[turn & MASK]!).verdict === 'stop',
      'ours, full trace': (turn: number) => decide(full, heads[turn & MASK]!).verdict === 'stop',
      'ours, no index': (turn: number) => decide(plain, heads[turn & MASK]!).verdict === 'stop',
      'json-logic': (turn: number) => peers.jsonLogic(requests[turn & MASK]!),
      'Cedar (wasm)': (turn: number) => peers.cedar(requests[turn & MASK]!),
    };
    for (const [name, contestant] of Object.entries(contestants)) {
      if (contestant(3) !== isRefused) throw new Error(`${name} decides otherwise`);
    }
    return row(`${rules} rules, ${what}`, compare(contestants));
  });
}

function peerRequest({ method, path, headers }: RequestHead): PeerRequest {
  const fields: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) fields[headers[at]!.toLowerCase()] ??= headers[at + 1]!;
  return { method, path, headers: fields };
}

/** Rules that differ in one fact, 10 and 1,000 of them: the ratio shows the value of the index. */
const SHARED: Readonly<
  Record<string, { readonly condition: (at: number) => string; readonly request: RequestHead }>
> = {
  prefix: {
    condition: (at) => `req.url.path.startsWith('/svc/${at}/') && !hasReqHeader('x-api-key')`,
    request: head('GET', '/svc/none/items'),
  },
  host: {
    condition: (at) => `req.host == 'h${at}.example' && req.url.path.endsWith('.php')`,
    request: head('GET', '/svc/5/items', 'h5.example'),
  },
  method: {
    condition: (at) => `req.method == 'DELETE' && hasReqHeader('x-${at}')`,
    request: head('GET', '/svc/5/items'),
  },
};

function sharedRow(name: string): BenchRow {
  const { condition, request } = SHARED[name]!;
  const few = policy(conditions(10, condition));
  const many = policy(conditions(1_000, condition));
  const measured = compare({
    ours: () => decide(many, request),
    '10 of them': () => decide(few, request),
  });
  return row(`1,000 rules that share a ${name}`, measured);
}

/** Rules that must all be evaluated. */
function walkedRow(rules: number): BenchRow {
  const compiled = policy(
    conditions(rules, (at) => `req.url.path.contains('/${at}/') && !hasReqHeader('x-api-key')`),
  );
  const request = head('GET', '/svc/none/items');
  return row(`${rules} rules that are all evaluated`, compare({ ours: () => decide(compiled, request) }));
}

/** Policies of 1 to 1,000 rules, compared with Cedar's wasm build and json-logic. */
export async function run(): Promise<BenchSection> {
  const guarded = SIZES.flatMap(guardedRows);
  const walked = SIZES.map(walkedRow);
  const shared = Object.keys(SHARED).map(sharedRow);
  const ten = guarded.find(({ name }) => name === '10 rules, none applies')!;
  const tenDenied = guarded.find(({ name }) => name === '10 rules, the last applies')!;
  const [, walkedTen, walkedHundred, walkedThousand] = walked.map(({ ours }) => ours);
  const ratios = shared.map(
    ({ name, ours, peers }) =>
      `${name.slice('1,000 rules that share a '.length)} ${(ours / peers['10 of them']!).toFixed(2)}`,
  );
  return Promise.resolve({
    title: 'Traffic policies: one decision of the request phase',
    between: 'the look-up of the rules that can apply, their expressions, and the actions of those that do',
    rows: [...guarded, ...walked, ...shared],
    notes: [
      `10 rules: ${perSecond(ten.ours)} decisions a second on one core where none applies, ${perSecond(tenDenied.ours)} where the last refuses (goal 1,000,000)`,
      `with a full trace: ${perSecond(ten.peers['ours, full trace']!)} and ${perSecond(tenDenied.peers['ours, full trace']!)}`,
      `an evaluated rule costs ${((walkedHundred! - walkedTen!) / 90).toFixed(0)} ns between 10 and 100 of them, ${((walkedThousand! - walkedHundred!) / 900).toFixed(0)} ns between 100 and 1,000`,
      `1,000 rules over 10 of them, told by: ${ratios.join(', ')} (goal below 3)`,
    ],
  });
}

function perSecond(nanoseconds: number): string {
  return Math.round(1e9 / nanoseconds).toLocaleString('en');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(render(await run()));
