import { INSTANCE_VERBS } from './instance_verbs.ts';
import {
  BENCH_OPTIONS,
  DEV_OPTIONS,
  EXPLAIN_OPTIONS,
  RECORD_OPTIONS,
  SERVE_OPTIONS,
  TEST_OPTIONS,
} from './option_groups.ts';
import type { VerbRow } from './verb_row.ts';

/** All verbs, in the order and the groups of the help. */
export const VERBS = {
  init: {
    group: 'Write',
    does: 'write a first edge, policy, scenarios and a CI workflow to this folder',
    examples: [
      ['init', 'asks before it writes'],
      ['init --yes', 'writes without asking'],
    ],
    load: () => import('./init.ts'),
  },
  check: {
    group: 'Write',
    does: 'check edge files and traffic policies; exit code 3 if one has errors',
    examples: [
      ['check', 'all edge files, policies and scenario files in this folder'],
      ['check edge.yaml'],
      ['check --exact edge.yaml', 'also what no request can reach'],
      ['check -r json edge.yaml', 'for tools'],
    ],
    load: () => import('./check.ts'),
  },
  fmt: {
    group: 'Write',
    does: 'format policies; comments are kept',
    examples: [['fmt policy.yml --check', 'exit code 1 if it is not formatted'], ['fmt --write policy.yml']],
    load: () => import('./fmt.ts'),
  },
  'explain-code': {
    group: 'Write',
    does: 'explain the code of a finding or of an error response, with an example',
    examples: [['explain-code edge.unknown_key'], ['explain-code 2207', 'the number of an error response']],
    load: () => import('./explain_code.ts'),
  },
  test: {
    group: 'Test',
    does: 'run scenario files: test cases for an edge',
    examples: [
      ['test', 'all scenario files in this folder'],
      ['test edge.scenario.yaml -f breaker', 'cases whose name contains this'],
      ['test -r junit=report.xml', 'also writes a report'],
    ],
    options: TEST_OPTIONS,
    load: () => import('./test.ts'),
  },
  cover: {
    group: 'Test',
    does: 'run scenario files and report what they leave untested in their edges, and why',
    examples: [
      ['cover', 'what the cases leave untested, and why'],
      ['cover edge.scenario.yaml --threshold routes=50 --no-offer'],
    ],
    load: () => import('./cover.ts'),
  },
  mutate: {
    group: 'Test',
    does: 'plant mistakes in an edge and report those that no case of a scenario file notices',
    examples: [
      ['mutate edge.scenario.yaml', 'which mistakes would go unnoticed'],
      ['mutate --max 20 -r json edge.scenario.yaml'],
    ],
    load: () => import('./mutate.ts'),
  },
  merge: {
    group: 'Test',
    does: 'combine the partial results of shards into one report',
    examples: [
      ['test --shard 1/2 --partial 1.part', 'on one machine'],
      ['test --shard 2/2 --partial 2.part', 'on another'],
      ['merge 1.part 2.part', 'one report; exit codes are those of the command'],
    ],
    load: () => import('./merge.ts'),
  },
  sim: {
    group: 'Test',
    does: 'run the simulation of a scenario file in virtual time',
    examples: [['sim load.scenario.yaml'], ['sim load.scenario.yaml --plot plot.html --seed 7']],
    load: () => import('./sim.ts'),
  },
  bench: {
    group: 'Test',
    does: 'measure the speed of an edge file, a policy or an expression, and the cost of its parts',
    examples: [
      ['bench edge.yaml --duration 50ms --warm-up 50ms'],
      ['bench edge.yaml --duration 50ms --warm-up 50ms --no-profile -r json=bench.json'],
    ],
    options: BENCH_OPTIONS,
    load: () => import('./bench.ts'),
  },
  explain: {
    group: 'Understand',
    does: 'explain step by step what an edge does with a request, with reasons and source lines',
    examples: [
      ['explain GET https://app.test/admin --ip 198.51.100.1', 'why a request gets its response'],
      ['explain GET https://app.test/admin --ip 198.51.100.1 --why-not app', 'what would have to change'],
      ["explain --scenario edge.scenario.yaml --case 'pages come from the app'"],
    ],
    options: EXPLAIN_OPTIONS,
    load: () => import('./explain.ts'),
  },
  eval: {
    group: 'Understand',
    does: 'evaluate an expression, or a template with ${…}, on a request',
    examples: [
      [`eval "'a' in ['a', 'b']"`],
      [
        `eval --explain "req.method == 'GET' && req.url.path.startsWith('/admin')" --request 'GET https://app.test/admin'`,
        'the value of every part',
      ],
    ],
    load: () => import('./eval.ts'),
  },
  repl: {
    group: 'Understand',
    does: 'evaluate expressions interactively',
    examples: [['repl', 'type an expression, or :help']],
    load: () => import('./repl.ts'),
  },
  replay: {
    group: 'Understand',
    does: 'replay the requests of a log and report which ones a changed configuration treats differently',
    examples: [
      ['replay access.log', 'what edge.yaml does with the logged requests'],
      ['replay access.log --against production.yaml', 'exit code 5 if it treats one of them differently'],
    ],
    load: () => import('./replay.ts'),
  },
  diff: {
    group: 'Compare and prove',
    does: 'compare what two edge files do with every request, and show a request for each difference',
    examples: [
      ['diff main:edge.yaml edge.yaml', 'what a branch changes; exit code 5 if they differ'],
      ['diff -r markdown main:edge.yaml edge.yaml', 'a comment on a pull request'],
    ],
    load: () => import('./diff.ts'),
  },
  prove: {
    group: 'Compare and prove',
    does: 'prove statements about every request of an edge file, or show a request that refutes them',
    examples: [
      ['prove edge.yaml --properties shop.property.yaml'],
      ['prove edge.yaml --properties shop.property.yaml --certificate proof.json'],
    ],
    load: () => import('./prove.ts'),
  },
  'verify-proof': {
    group: 'Compare and prove',
    does: 'verify certificates of proofs with the engine itself, independently of the analysis',
    examples: [['verify-proof proof.json edge.yaml']],
    load: () => import('./verify_proof.ts'),
  },
  classes: {
    group: 'Compare and prove',
    does: 'list the classes of requests that an edge file distinguishes, with their outcomes',
    examples: [['classes edge.yaml'], ['classes --json edge.yaml']],
    load: () => import('./classes.ts'),
  },
  dev: {
    group: 'Run',
    does: 'run a local ingress on an edge file, reloaded on save',
    examples: [
      ['dev', 'serves edge.yaml on port 8080 and reloads it on save'],
      ['dev edge.yaml --port 0 --events -', 'any free port; one event a line'],
      ['dev edge.yaml --port 0 --api 0', 'also the management API'],
    ],
    options: DEV_OPTIONS,
    load: () => import('./dev.ts'),
  },
  http: {
    group: 'Run',
    does: 'run a traffic policy in front of a local port, without an edge file',
    examples: [
      ['http 3000', 'every request goes to port 3000 of this machine'],
      ['http 3000 --policy policy.yml --port 0'],
    ],
    options: DEV_OPTIONS,
    load: () => import('./http.ts'),
  },
  record: {
    group: 'Run',
    does: 'run a local ingress that records whole exchanges, or convert logs with --from',
    examples: [
      ['record edge.yaml --port 0 --out session.ndjson', 'keeps whole exchanges, redacted'],
      ['record --from access.log --to scenario --out logged.scenario.yaml'],
    ],
    options: RECORD_OPTIONS,
    load: () => import('./record.ts'),
  },
  serve: {
    group: 'Run',
    does: 'serve the management API and the edge that it configures',
    examples: [
      ['serve --port 0 --api-port 0', 'prints its first key'],
      ['serve --port 0 --api-port 0 --store team.db'],
    ],
    options: SERVE_OPTIONS,
    load: () => import('./serve.ts'),
  },
  ...INSTANCE_VERBS,
  trust: {
    group: 'Help on this machine',
    does: 'make this machine trust the local certificate authority, for HTTPS in `dev`',
    examples: [['trust --print', 'prints the commands without running them']],
    load: () => import('./trust.ts'),
  },
  cert: {
    group: 'Help on this machine',
    does: 'issue a certificate of the local authority, for a host or for a mutual TLS client',
    examples: [['cert app.localhost'], ['cert --client ann --email ann@app.test', 'for mutual TLS']],
    load: () => import('./cert.ts'),
  },
  webhook: {
    group: 'Help on this machine',
    does: 'sign webhooks as their providers do, and verify them',
    examples: [
      ['webhook sign --provider github --secret abc --data payload.json'],
      ['webhook sign --provider github --secret abc --data payload.json --curl'],
      ['webhook verify --provider github --secret abc --data payload.json', 'explains each step'],
    ],
    load: () => import('./webhook.ts'),
  },
  mcp: {
    group: 'Help on this machine',
    does: 'serve tools for assistants over standard input and output (Model Context Protocol); nothing is written',
    examples: [['mcp', 'an assistant starts it in the folder of a project'], ['mcp --root .']],
    load: () => import('./mcp.ts'),
  },
  lsp: {
    group: 'Help on this machine',
    does: 'serve editors over standard input and output: findings, completion, hover, repairs (Language Server Protocol)',
    examples: [['lsp', 'an editor starts it in the folder of a project'], ['lsp --stdio']],
    load: () => import('./lsp.ts'),
  },
  playground: {
    group: 'Help on this machine',
    does: 'serve a page that checks, decides and explains in the browser, without a server behind it',
    examples: [
      ['playground --port 4180'],
      ['playground --out site', 'writes the page, to be published by any web server'],
    ],
    load: () => import('./playground.ts'),
  },
  completion: {
    group: 'Help on this machine',
    does: 'print a script that completes commands and options in bash, zsh, fish or PowerShell',
    examples: [
      ['completion bash', 'for this session: source <(edgeproof completion bash)'],
      ['completion zsh'],
    ],
    load: () => import('./completion.ts'),
  },
} satisfies Readonly<Record<string, VerbRow>>;

export type VerbName = keyof typeof VERBS;

export const VERB_NAMES = Object.keys(VERBS) as readonly VerbName[];

export function isVerb(text: string): text is VerbName {
  return Object.hasOwn(VERBS, text);
}
