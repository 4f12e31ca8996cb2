import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../src/cel/program.ts';
import { decidingPart } from '../../src/cel/deciding_part.ts';
import { explain as evaluation } from '../../src/cel/explain.ts';
import { declareScope, variable } from '../../src/cel/scope.ts';
import { STANDARD } from '../../src/cel/std/standard.ts';
import { BOOL, INT } from '../../src/cel/types.ts';
import { EvalError, type Outcome, type Value } from '../../src/cel/values.ts';
import { valueText } from '../../src/cel/value_text.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeproof-explained-'));
const EDGE = `backends:
  app: { static: { address: "127.0.0.1:3000" } }
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - match_type: path_prefix
          match: /
          traffic_policy:
            value: |
              on_http_request:
                - name: bots
                  expressions: ["req.method == 'GET' && req.url.path.startsWith('/api')"]
                  actions: [{ type: deny, config: { status_code: 403 } }]
                - name: not from the office
                  expressions: ["req.method == 'GET'", "!(conn.client_ip.startsWith('10.'))"]
                  actions: [{ type: deny }]
                - name: key
                  expressions: ["req.headers['x-key'][0] == secrets.get('team', 'key')"]
                  actions: [{ type: log, config: { metadata: { a: b } } }]
          backend: { backend_id: app }
`;
const SECRET = 'EDGEPROOF_SECRET_TEAM_KEY';
beforeAll(() => {
  process.env[SECRET] = 'open sesame';
  writeFileSync(join(folder, 'edge.yaml'), EDGE);
});
afterAll(() => {
  delete process.env[SECRET];
  rmSync(folder, { recursive: true });
});

const explain = (...more: readonly string[]) =>
  edgeproof(['explain', 'GET', 'https://shop.test/admin', '-H', 'x-key: no', ...more], folder);

describe('explain', () => {
  it('says which part of which expression kept a rule from applying, and what it was compared with', async () => {
    const { stdout } = await explain('--ip', '10.0.0.1');
    expect(stdout).toContain(
      "rule bots: does not apply: req.url.path.startsWith('/api') is false (req.url.path is '/admin')",
    );
    expect(stdout).toContain(
      "rule not from the office: does not apply: conn.client_ip.startsWith('10.') is true (conn.client_ip is '10.0.0.1')",
    );
    expect(stdout).toContain('├ ● upstream');
    expect(stdout).toMatch(/\nassumed: the upstream answers 200 \(--upstream-status\)\n$/);
  });

  it('prints the values of all parts with -v, and says what it assumed', async () => {
    const { stdout } = await explain('-v');
    expect(stdout).toMatch(/├ ■ traffic_policy/);
    expect(stdout).toMatch(/\n\s+conn\.client_ip\s+'203\.0\.113\.9'\n/);
    expect(stdout).toMatch(
      /\nevaluated for the first time, with every part watched, in\n +\d+\.\d\d ms {2}req/,
    );
    expect(stdout).toMatch(/\nassumed: client address 203\.0\.113\.9 \(--ip\); the time 20\S+Z; no body; /);
  });

  it('hides secrets', async () => {
    const { stdout } = await explain('--ip', '10.0.0.1', '-v');
    expect(stdout).toContain("is 'no', secrets.get('team', 'key') is '***'");
    expect(stdout).not.toContain('sesame');
  });

  it('has the same sentences as data', async () => {
    const { stdout } = await explain('--ip', '10.0.0.1', '--json');
    const { steps, decidedBy } = JSON.parse(stdout) as {
      steps: { module: string; inner?: { message: string }[] }[];
      decidedBy: { module: string };
    };
    expect(steps.find(({ module }) => module === 'traffic_policy')?.inner?.[0]?.message).toMatch(
      /^does not apply: /,
    );
    expect(decidedBy.module).toBe('upstream');
  });
});

describe('the part of an expression that decided', () => {
  const scope = declareScope<Readonly<Record<string, Value>>>({
    name: 'test',
    functions: STANDARD,
    variables: [...['a', 'b', 'c'].map((name) => variable(name, BOOL, '')), variable('n', INT, '')],
  });
  const shown = (outcome: Outcome): string => (outcome instanceof EvalError ? 'error' : valueText(outcome));
  const decider = (source: string, values: Record<string, boolean>): string => {
    const { program } = compile(source, scope);
    const part = decidingPart(program!, evaluation(program!, { n: 3n, ...values }).steps)!;
    const operands = part.operands.map(
      ({ span, outcome }) => `${source.slice(span.start, span.end)}=${shown(outcome)}`,
    );
    return `${source.slice(part.span.start, part.span.end)}=${shown(part.outcome)} ${operands.join(' ')}`.trim();
  };
  it.each([
    ['a && b && c', { a: true, b: false, c: true }, 'b=false'],
    ['a && (b || c)', { a: true, b: false, c: false }, 'b || c=false b=false c=false'],
    ['!(a || b)', { a: false, b: true, c: true }, 'b=true'],
    ['!(a && b)', { a: true, b: true, c: true }, 'a && b=true a=true b=true'],
    ['a ? n > 4 : b', { a: true, b: true, c: true }, 'a ? n > 4 : b=false a=true n > 4=false'],
    ['n > 4 && a', { a: true, b: true, c: true }, 'n > 4=false n=3'],
    ['a', { a: false, b: true, c: true }, 'a=false'],
  ])('%s', (source, values, expected) => {
    expect(decider(source, values)).toBe(expected);
  });
});

it('colours the line that decides, as the log does', async () => {
  const project = folderWith({ 'edge.yaml': EDGE });
  const explained = async (url: string) => {
    const { stdout } = await edgeproof(['explain', url], project, { NO_COLOR: '', FORCE_COLOR: '1' });
    return stdout.replaceAll('\u001b', '');
  };
  expect(await explained('https://shop.test/api')).toMatch(/\n├ \[31m■ .* stop .*\[39m\n/);
  expect(await explained('https://other.test/')).toMatch(/\n├ \[31m■ .*\[39m\n/);
});
