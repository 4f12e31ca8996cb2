/**
 * The options of a verb under headings, by their long names, in the order in which they are shown: what is used most comes
 * first. Verbs with few options need no headings.
 */
export type OptionGroups = readonly (readonly [heading: string, names: readonly `--${string}`[]])[];

const SERVED = [
  'What is served',
  [
    '--policy',
    '--identities',
    '--backend',
    '--internal',
    '--facts',
    '--address-database',
    '--wait-upstream',
    '--pass-unsimulated',
    '--allow-private-fetch',
    '--service-name',
  ],
] as const;
const RELOAD = ['Reload', ['--no-watch', '--poll']] as const;
const ADDRESS = ['Address', ['--port', '--host', '--strict-port']] as const;
const TLS = [
  'TLS and TCP',
  ['--tls-port', '--no-tls', '--edge-port', '--edge-ports', '--accept-proxy-protocol'],
] as const;
const API = [
  'Management API',
  ['--api', '--api-port', '--tls-cert', '--tls-key', '--rate-limit', '--json-for-empty'],
] as const;
const STORE = [
  'Store',
  ['--store', '--seal-key-file', '--seal-key-command', '--max-stale', '--keep-audit', '--keep-undelivered'],
] as const;
const AGENTS = ['Agents', ['--agents', '--authtoken']] as const;
const INSPECTOR = ['Inspector', ['--inspector', '--no-inspector']] as const;
const RECORDING = [
  'Recordings',
  ['--record', '--record-bodies', '--redact', '--hash-redacted', '--hash-key'],
] as const;
const EVENTS = [
  'Logs and events',
  ['--log', '--events', '--event-filter', '--event-files', '--allow-private-callbacks', '--otlp'],
] as const;
const OPERATION = [
  'Operation',
  ['--admin-port', '--admin-host', '--drain', '--workers', '--shared', '--shared-unavailable'],
] as const;

/** The options of the verbs that serve an edge on this machine. */
export const DEV_OPTIONS: OptionGroups = [
  ADDRESS,
  SERVED,
  RELOAD,
  TLS,
  INSPECTOR,
  RECORDING,
  EVENTS,
  API,
  AGENTS,
  OPERATION,
];

/** Those of `record`: what it writes comes before what it serves. */
export const RECORD_OPTIONS: OptionGroups = [
  ['Output', ['--out', '--from', '--to', '--limit']],
  ...DEV_OPTIONS,
];

/** Those of an instance with a store. */
export const SERVE_OPTIONS: OptionGroups = [
  STORE,
  ADDRESS,
  API,
  TLS,
  AGENTS,
  INSPECTOR,
  EVENTS,
  SERVED,
  OPERATION,
];

const REPORT = ['Report', ['--reporter', '--json', '--quiet', '--no-profile', '--verbose']] as const;

export const TEST_OPTIONS: OptionGroups = [
  ['Which cases run', ['--filter', '--tag', '--watch', '--bail', '--repeat', '--shard']],
  REPORT,
  [
    'Snapshots and coverage',
    ['--update', '--coverage', '--coverage-reporter', '--threshold', '--emit-cases'],
  ],
  ['Execution', ['--jobs', '--seed', '--events', '--partial', '--service-name']],
];

export const BENCH_OPTIONS: OptionGroups = [
  ['What is measured', ['--requests', '--duration', '--warm-up', '--seed']],
  REPORT,
  ['Comparison', ['--baseline', '--against', '--threshold']],
  [
    'Load over HTTP',
    [
      '--http',
      '--rate',
      '--sweep',
      '--arrivals',
      '--connections',
      '--http2',
      '--timeout',
      '--method',
      '--header',
      '--body',
      '--insecure',
      '--allow-remote',
    ],
  ],
  ['Name', ['--service-name']],
];

export const EXPLAIN_OPTIONS: OptionGroups = [
  ['The request', ['--ip', '--header', '--upstream-status', '--agent', '--scenario', '--case', '--event']],
  ['The connection', ['--connect', '--sni', '--client-cert']],
  ['The edge', ['--edge', '--service-name']],
  ['The answer', ['--why-not', '--verbose', '--reporter', '--json']],
];
