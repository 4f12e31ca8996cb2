import type { CodeAction, CodeLens, Location, SemanticTokens } from 'vscode-languageserver-protocol/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';
import { Editor, atCursor } from './client.ts';

const EDGE = `backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /admin
          backend: { backend_id: app }
          traffic_policy: { file: policy.yaml }
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
`;
const POLICY = `on_http_request:
  - name: closed
    expressions: ["req.url.path.startsWith('/admin/x')"]
    actions: [{ type: deny }]
  - name: dead
    expressions: ["req.url.path.startsWith('/admin/x/y')"]
    actions: [{ type: deny }]
  - name: open
    expressions: ["hasReqHeader('x-a') && 1 < 2"]
    actions: [{ type: log, config: { metadata: { a: b } } }]
`;
const SCENARIO = `edge: edge.yaml
cases:
  - name: the door is closed
    request: /admin/x
    expect: { status: 403 }
  - name: wrong
    request: /
    expect: { status: 403 }
`;
const folder = folderWith({ 'edge.yaml': EDGE, 'policy.yaml': POLICY, 'shop.scenario.yaml': SCENARIO });
let editor: Editor;
beforeAll(async () => {
  editor = await new Editor(folder).start({ delay: 0 });
  await editor.show('policy.yaml', POLICY);
  await editor.show('shop.scenario.yaml', SCENARIO);
  await editor.show('edge.yaml', EDGE);
}, 300_000);
afterAll(async () => {
  expect(await editor.stop()).toBe(0);
});

const lenses = async (name: string): Promise<CodeLens[]> => {
  const all = await editor.ask<CodeLens[]>('textDocument/codeLens', name);
  return Promise.all(
    all.map(async (lens) =>
      lens.command === undefined ? editor.connection.sendRequest<CodeLens>('codeLens/resolve', lens) : lens,
    ),
  );
};
const titles = async (name: string): Promise<string[]> =>
  (await lenses(name)).map(({ range, command }) => `${range.start.line + 1}: ${command!.title}`);

describe('code lens', () => {
  test('cases can be run and explained, with what the command line prints', async () => {
    expect(await titles('shop.scenario.yaml')).toEqual([
      '3: Run case',
      '3: Explain',
      '6: Run case',
      '6: Explain',
    ]);
    const [run, explain, second] = await lenses('shop.scenario.yaml');
    const execute = <Answer>({ command }: CodeLens): Promise<Answer> =>
      editor.connection.sendRequest('workspace/executeCommand', command);
    expect(await execute(run!)).toMatchObject({ passed: true });
    const { text } = await execute<{ readonly text: string }>(explain!);
    const cli = await edgeproof(
      ['explain', '--scenario', 'shop.scenario.yaml', '--case', 'the door is closed'],
      folder,
    );
    expect(text).toBe(cli.stdout);
    expect(await execute(second!)).toMatchObject({
      passed: false,
      text: expect.stringContaining('status') as string,
    });
  });

  test('rules and routes say how often the cases reach them', async () => {
    const found = await titles('edge.yaml');
    expect(found).toEqual(['8: reached 1 time', '12: reached 1 time']);
    const rules = (await titles('policy.yaml')).filter((title) => / (?:not )?reached/.test(title));
    expect(rules[0]).toBe('2: reached 1 time');
    expect(rules[1]).toMatch(/^5: not reached: rule closed before it/);
    expect(rules[2]).toMatch(/^8: not reached: /);
  });

  test('the texts of the editor count, not those on disk', async () => {
    await editor.show('shop.scenario.yaml', SCENARIO.replace('request: /\n', 'request: /admin/x\n'));
    expect(await titles('edge.yaml')).toEqual([
      '8: reached 2 times',
      expect.stringMatching(/^12: not reached/),
    ]);
    await editor.show('shop.scenario.yaml', SCENARIO);
  });

  test('a program is not run', async () => {
    const text = SCENARIO.replace('edge.yaml', 'edge.ts');
    await editor.show('program.scenario.yaml', text);
    const [run] = await lenses('program.scenario.yaml');
    const result = await editor.connection.sendRequest('workspace/executeCommand', run!.command);
    expect(result).toMatchObject({ passed: false, text: expect.stringContaining('not run here') as string });
    await editor.hide('program.scenario.yaml');
  });

  test('what is dead has its repair', async () => {
    const edge = EDGE.replace(
      'traffic_policy: { file: policy.yaml }',
      `traffic_policy:\n${POLICY.replaceAll(/^/gm, '            ').trimEnd()}`,
    );
    await editor.show('inline.edge.yaml', edge);
    await editor.findings('inline.edge.yaml', ({ diagnostics }) =>
      diagnostics.some(({ code }) => code === 'analysis.dead_rule'),
    );
    const dead = (await lenses('inline.edge.yaml')).find(
      ({ command }) => command!.command === 'edgeproof.repair',
    );
    const edits: unknown[] = [];
    editor.connection.onRequest('workspace/applyEdit', (params: unknown) => {
      edits.push(params);
      return { applied: true };
    });
    expect(await editor.connection.sendRequest('workspace/executeCommand', dead!.command)).toBe(true);
    expect(JSON.stringify(edits)).toContain('"newText":""');
    await editor.hide('inline.edge.yaml');
  });
});

test('the definition of a case is the route that it takes', async () => {
  const { position } = atCursor(SCENARIO.replace('the door', 'the d‸oor'));
  const [place] = await editor.ask<Location[]>('textDocument/definition', 'shop.scenario.yaml', { position });
  expect(place).toMatchObject({ uri: editor.uriOf('edge.yaml'), range: { start: { line: 7 } } });
});

test('the missing case is added where cases are', async () => {
  const start = { line: 7, character: 4 };
  const actions = await editor.ask<CodeAction[]>('textDocument/codeAction', 'policy.yaml', {
    range: { start, end: start },
    context: { diagnostics: [], only: ['refactor'], triggerKind: 1 },
  });
  const add = actions.find(({ title }) => title === 'Add the missing case');
  const { edit } = await editor.connection.sendRequest<CodeAction>('codeAction/resolve', add);
  const [change] = edit!.changes![editor.uriOf('shop.scenario.yaml')]!;
  expect(change!.range.start).toEqual({ line: 7, character: 27 });
  await editor.show('shop.scenario.yaml', `${SCENARIO.trimEnd()}${change!.newText}\n`);
  expect(await titles('policy.yaml')).toContain('8: reached 1 time');
  await editor.show('shop.scenario.yaml', SCENARIO);
  // A dead rule has none.
  const dead = { line: 4, character: 4 };
  const none = await editor.ask<CodeAction[]>('textDocument/codeAction', 'policy.yaml', {
    range: { start: dead, end: dead },
    context: { diagnostics: [], only: ['refactor'], triggerKind: 1 },
  });
  expect(none.map(({ title }) => title)).not.toContain('Add the missing case');
});

test('expressions have tokens, in whole documents and in parts', async () => {
  const { data } = await editor.ask<SemanticTokens>('textDocument/semanticTokens/full', 'policy.yaml');
  const types = editor.initialized.capabilities.semanticTokensProvider!.legend.tokenTypes;
  const lines = POLICY.split('\n');
  const shown: string[] = [];
  for (let at = 0, line = 0, column = 0; at < data.length; at += 5) {
    const [down, right, length, type] = data.slice(at, at + 4) as [number, number, number, number];
    column = down === 0 ? column + right : right;
    line += down;
    shown.push(`${types[type]!} ${lines[line]!.slice(column, column + length)}`);
  }
  expect(shown.slice(0, 5)).toEqual([
    'variable req',
    'property url',
    'property path',
    'function startsWith',
    "string '/admin/x'",
  ]);
  expect(shown.slice(-5)).toEqual(["string 'x-a'", 'operator &&', 'number 1', 'operator <', 'number 2']);
  const range = { start: { line: 4, character: 0 }, end: { line: 6, character: 0 } };
  const part = await editor.ask<SemanticTokens>('textDocument/semanticTokens/range', 'policy.yaml', {
    range,
  });
  expect(part.data).toHaveLength(25);
});
