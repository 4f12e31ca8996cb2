import { IS_FULL } from '../../random.ts';

/** Command lines, by name. */
const COMMANDS = {
  check: 'check edge.yaml',
  checkBad: 'check bad.yaml',
  checkStrong: 'check strong.yaml',
  checkWeak: 'check weak.yaml',
  checkExact: 'check --exact edge.yaml',
  checkExactLate: 'check --exact late.yaml',
  fmt: 'fmt policy.yaml',
  diff: 'diff edge.yaml other.yaml',
  diffOfNothing: 'diff edge.yaml edge.yaml',
  prove: 'prove --properties tea.property.yaml',
  proveModule: 'prove --properties module.property.yaml',
  mutate: 'mutate tea.test.yaml --jobs 1 -r json',
  test: 'test tea.test.yaml',
  testServed: 'test served.test.yaml',
  explain: 'explain GET https://shop.test/',
  cover: 'cover tea.test.yaml --reporter json',
  sim: 'sim tea.sim.yaml --json',
  replay: 'replay tea.har',
  bench: 'bench edge.yaml --duration 5ms --warm-up 5ms --quiet --reporter json',
  codeOfModule: 'explain-code tea_pot.spilt',
  codeOfAction: 'explain-code brew_tea.cold',
  codeOfFinding: 'explain-code edge.strong_tea',
  codeOfWarning: 'explain-code policy.weak_tea',
  number: 'explain-code 4181',
  numberOfService: 'explain-code ERR_SERVICE_4182',
};

/** Runs the command lines, uses the management API, completes a word and writes the pages, in one process of the copy. */
export const PROBE = `import { writeFileSync } from 'node:fs';
import { complete } from './src/cel/expression_completion.ts';
import { stderr, stdout } from './src/cli/output.ts';
import { run } from './src/cli/run.ts';
import { openManagement } from './src/control/management.ts';
import { scopeFor } from './src/policy/env/scopes.ts';

const commands = {};
const write = process.stdout.write;
for (const [name, line] of Object.entries(${JSON.stringify(COMMANDS)})) {
  let text = '';
  const heard = (chunk, ...rest) => {
    text += chunk;
    rest.find((each) => typeof each === 'function')?.();
    return true;
  };
  for (const output of [process.stdout, process.stderr, stdout, stderr]) output.write = heard;
  const status = await run(line.split(' '));
  commands[name] = { status, text };
}
process.stdout.write = write;
const management = await openManagement({ storePath: 'store.db', eventFiles: 'events' });
const listening = await management.listen();
const call = async (method, path, body) => {
  const headers = {
    authorization: 'Bearer ' + management.firstKey,
    'service-version': '2',
    'content-type': 'application/json',
  };
  return (await fetch(listening.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json();
};
const edge = await call('POST', '/edges/https', { hostports: ['shop.test:443'] });
const routes = '/edges/https/' + edge.id + '/routes';
const route = { match_type: 'path_prefix', match: '/', tea_pot: { cups: 4 } };
const api = {
  created: await call('POST', routes, route),
  refused: await call('POST', routes, { ...route, match: '/x', tea_pot: { cups: 12 } }),
  description: await call('GET', '/openapi.json'),
};
await listening.close();
await management.close();
const completion = complete('actions.service.brew_', scopeFor('on_http_request')).candidates;
writeFileSync('results.json', JSON.stringify({ commands, api, completion }));
if (${IS_FULL}) await import('./docs/generate.ts');
process.exit(0);
`;

export interface Results {
  readonly commands: Readonly<
    Record<keyof typeof COMMANDS, { readonly status: number; readonly text: string }>
  >;
  readonly api: {
    readonly created: object;
    readonly refused: object;
    readonly description: { readonly components: { readonly schemas: Readonly<Record<string, object>> } };
  };
  readonly completion: readonly string[];
}
