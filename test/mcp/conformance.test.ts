import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { TOOLS } from '../../src/mcp/tools.ts';
import { ensureBuilt } from '../built.ts';
import { folderWith } from '../folder.ts';
import { hasLibrariesFor, requirePeer } from '../peers.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/lib/main.cjs');
const isThere = hasLibrariesFor('the conformance suite and the inspector of the Model Context Protocol');

/** Names that the suite gives to what its example server has, and what it gets here instead. */
const INSTEAD: Readonly<Record<string, readonly [name: string, input?: object]>> = {
  test_simple_text: ['explain_code', { code: 'edge.unknown_key' }],
  test_error_handling: ['check', { file: 'missing.yaml' }],
  'test://static-text': ['edgeproof://schema/edge.json'],
  test_simple_prompt: ['explain_block', { file: 'edge.yaml' }],
};

const REQUEST = 'url=https://shop.test/api';
/** A call of each tool. */
const CALLS: readonly (readonly string[])[] = [
  ['check', 'file=edge.yaml'],
  ['explain', 'file=edge.yaml', REQUEST],
  ['decide', 'file=edge.yaml', REQUEST],
  ['why_not', 'file=edge.yaml', 'url=https://shop.test/admin', 'name=admin'],
  ['test', 'paths=["shop.scenario.yaml"]'],
  ['cover', 'paths=["shop.scenario.yaml"]'],
  ['diff', 'old=edge.yaml', 'new=edge.yaml'],
  ['prove', 'file=edge.yaml'],
  ['bench', 'file=edge.yaml'],
  ['explain_code', 'code=edge.unknown_key'],
  ['format', 'file=policy.yaml'],
];

/** Scenarios of the suite that are about what this server has. */
const APPLY = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'resources-list',
  'resources-read-text',
  'prompts-list',
  'prompts-get-simple',
];

/** The others, and why they do not apply. */
const OTHERS: Readonly<Record<string, string>> = {
  'logging-set-level': 'no logging is declared',
  'completion-complete': 'no completion is declared',
  'tools-call-image': 'no tool answers with an image',
  'tools-call-audio': 'no tool answers with sound',
  'tools-call-embedded-resource': 'no tool answers with a resource',
  'tools-call-mixed-content': 'tools answer with text',
  'tools-call-with-logging': 'no logging is declared',
  'tools-call-with-progress': 'no tool reports progress',
  'tools-call-sampling': 'no tool asks for a model',
  'tools-call-elicitation': 'no tool asks the user',
  'elicitation-sep1034-defaults': 'no tool asks the user',
  'elicitation-sep1330-enums': 'no tool asks the user',
  'server-sse-multiple-streams': 'of HTTP, which is not served',
  'resources-read-binary': 'no resource is binary',
  'resources-templates-read': 'there are no templates',
  'resources-subscribe': 'no subscription is declared',
  'resources-unsubscribe': 'no subscription is declared',
  'prompts-get-with-args': 'prompts have one argument, not two',
  'prompts-get-embedded-resource': 'prompts have text only',
  'prompts-get-with-image': 'prompts have text only',
  'dns-rebinding-protection': 'of HTTP, which is not served',
};

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A message of the suite with the names of this server. */
function renamed(message: Message): Message {
  const { params = {} } = message;
  const key = 'uri' in params ? 'uri' : 'name';
  const found = INSTEAD[String(params[key])];
  if (found === undefined) return message;
  const [name, input] = found;
  return { ...message, params: { ...params, [key]: name, ...(input && { arguments: input }) } };
}

/** The server of one session. */
function session(folder: string) {
  const child = spawn(process.execPath, [MAIN, 'mcp'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number | string, (answer: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method } = JSON.parse(line) as Message;
    if (id !== undefined && method === undefined) waiting.get(id)?.(line);
  });
  const send = (message: Message): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    send,
    ask: (id: number | string, message: Message) =>
      new Promise<string>((resolve) => {
        waiting.set(id, resolve);
        send(message);
      }),
    end: () => child.stdin.end(),
  };
}

/** The suite speaks HTTP only: each of its sessions gets a process, and each request one line of its input. */
async function bridge(folder: string) {
  const sessions = new Map<string, ReturnType<typeof session>>();
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      if (request.method !== 'POST') return response.writeHead(405).end();
      const id = String(request.headers['mcp-session-id'] ?? `s${sessions.size}`);
      let own = sessions.get(id);
      if (own === undefined) sessions.set(id, (own = session(folder)));
      const message = renamed(JSON.parse(body) as Message);
      const headers = { 'mcp-session-id': id, 'content-type': 'application/json' };
      if (message.id !== undefined)
        return response.writeHead(200, headers).end(await own.ask(message.id, message));
      own.send(message);
      return response.writeHead(202, headers).end();
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () => {
      for (const each of sessions.values()) each.end();
      server.closeAllConnections();
      server.close();
    },
  };
}

function programOf(name: string, bin: string): string {
  return requirePeer.resolve(`${name}/package.json`).replace(/package\.json$/, bin);
}

describe.runIf(isThere)('the published suite', () => {
  let folder: string;
  let found: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    await ensureBuilt();
    folder = folderWith();
    for (const name of ['edge.yaml', 'policy.yaml', 'shop.scenario.yaml'])
      copyFileSync(join(ROOT, 'fixtures/repairs', name), join(folder, name));
    const { url, close } = await bridge(folder);
    const results = folderWith();
    const suite = programOf('@modelcontextprotocol/conformance', 'dist/index.js');
    const child = spawn(process.execPath, [suite, 'server', '--url', url, '-o', results], {
      cwd: results,
      stdio: 'ignore',
    });
    await once(child, 'close');
    close();
    found = new Map(
      readdirSync(results).map((name) => {
        const checks = JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as readonly {
          readonly status: string;
          readonly errorMessage?: string;
        }[];
        const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)![1]!;
        return [
          scenario,
          checks.flatMap(({ status, errorMessage = '' }) => (status === 'FAILURE' ? [errorMessage] : [])),
        ];
      }),
    );
  }, 240_000);

  test('has no scenarios but these', () => {
    expect([...found.keys()].toSorted()).toEqual([...APPLY, ...Object.keys(OTHERS)].toSorted());
  });

  test.each(APPLY)('%s', (scenario) => {
    expect(found.get(scenario)).toEqual([]);
  });

  test('the inspector lists and calls each tool', () => {
    const inspector = programOf('@modelcontextprotocol/inspector', 'clients/launcher/build/index.js');
    const inspect = (...args: readonly string[]) => {
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [inspector, '--cli', process.execPath, MAIN, 'mcp', '--root', folder, '--method', ...args],
        { cwd: folder, encoding: 'utf8', env: { ...process.env, HOME: folder } },
      );
      expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' });
      return JSON.parse(stdout) as Record<string, never>;
    };
    const { tools } = inspect('tools/list') as { tools?: readonly { readonly name: string }[] };
    expect(tools!.map(({ name }) => name)).toEqual(Object.keys(TOOLS));
    for (const [name, ...input] of CALLS) {
      const given = input.flatMap((each) => ['--tool-arg', each]);
      const { isError, structuredContent } = inspect('tools/call', '--tool-name', name!, ...given);
      expect([name, isError ?? false, structuredContent]).toEqual([name, false, expect.anything()]);
    }
    expect(CALLS.map(([name]) => name)).toEqual(Object.keys(TOOLS));
  }, 240_000);
});
