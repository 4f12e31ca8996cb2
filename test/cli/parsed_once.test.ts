import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';

const EDGE = `backends:
  app: { http_response: { status_code: 200 } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /admin
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - expressions: ["req.method == 'POST'"]
                actions: [{ type: deny, config: { status_code: 405 } }]
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            value: |
              on_http_request:
                - name: no bots
                  expressions: ["req.url.path.startsWith('/bots')"]
                  actions: [{ type: deny, config: { status_code: 403 } }]
`;

const CASES = `cases:
  - { name: posts, request: POST https://shop.test/admin, expect: { status: 405 } }
  - { name: bots, request: GET https://shop.test/bots, expect: { status: 403 } }
`;

const folder = folderWith({
  'edge.yaml': EDGE,
  'later.yaml': EDGE.replace('/bots', '/robots'),
  'policy.yaml': 'on_http_request: [{ actions: [{ type: deny, config: { status_code: 403 } }] }]\n',
  'edge.scenario.yaml': `edge: ./edge.yaml\n${CASES}`,
  'failing.scenario.yaml': `edge: ./edge.yaml\n${CASES.replaceAll('40', '41')}`,
  'policy.scenario.yaml':
    'policy: ./policy.yaml\ncases: [{ name: all, request: GET https://shop.test/, expect: { status: 403 } }]\n',
});

/** How often a command line checks a policy, in all of its processes, and its exit code. */
async function checksIn(
  args: readonly string[],
): Promise<{ readonly code: number; readonly checks: number }> {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const counts = join(folder, `calls ${args.join(' ')}`);
  const env = { ...process.env, NODE_V8_COVERAGE: counts };
  const code = await new Promise<number>((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd: folder, env }, (error) =>
      resolve(Number(error?.code ?? 0)),
    );
  });
  const files = readdirSync(counts).map(
    (name) => JSON.parse(readFileSync(join(counts, name), 'utf8')) as Calls,
  );
  const functions = files.flatMap(({ result }) =>
    result.flatMap((each) => (each.url.endsWith('/src/policy/document/findings.ts') ? each.functions : [])),
  );
  const checks = functions
    .filter(({ functionName }) => functionName === 'findingsOf')
    .reduce((sum, { ranges }) => sum + ranges[0]!.count, 0);
  return { code, checks };
}

/** What Node writes for NODE_V8_COVERAGE. */
interface Calls {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

describe('each policy of a file is parsed and checked once', () => {
  it.each<[line: string, policies: number, code: number]>([
    ['check edge.yaml', 2, 0],
    ['check policy.yaml', 1, 0],
    ['test edge.scenario.yaml', 2, 0],
    ['test policy.scenario.yaml', 1, 0],
    // The places of its steps, and what would pass, are read from the policies.
    ['test failing.scenario.yaml', 2, 1],
    ['cover edge.scenario.yaml', 2, 0],
    ['cover policy.scenario.yaml', 1, 0],
    // Once more with the part that differs as it was before.
    ['diff edge.yaml later.yaml', 5, 5],
    ['diff edge.yaml edge.yaml', 4, 0],
    ['mutate --jobs 1 --max 1 edge.scenario.yaml', 2, 0],
    ['mutate --jobs 1 --max 1 policy.scenario.yaml', 1, 0],
  ])('by %s', async (line, policies, code) => {
    expect(await checksIn(line.split(' '))).toEqual({ code, checks: policies });
  });
});
