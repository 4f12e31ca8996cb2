import type { CodeAction, CompletionList, Hover } from 'vscode-languageserver-protocol/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderWith } from '../folder.ts';
import { Editor, atCursor } from './client.ts';

const folder = folderWith({
  'day.log': `curl -X PUT -H 'x-team: red' 'https://shop.test/first'\ncurl -H 'x-team: blue' 'https://shop.test/x?page=2'\n`,
});
const EDGE = `backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - expressions: ["req.url.path.startsWith('/x')"]
                actions:
                  - type: deny
                    config: { status_code: 403 }
`;

let editor: Editor;
beforeAll(async () => {
  editor = await new Editor(folder).start({ exact: false, delay: 0, recording: 'day.log' });
}, 300_000);
afterAll(async () => {
  expect(await editor.stop()).toBe(0);
});

describe('findings', () => {
  test('come and go with the text', async () => {
    await editor.show('edge.yaml', EDGE.replace('backend_id: app', 'backend_id: ap'));
    const [found] = await editor.findings('edge.yaml');
    expect(found).toMatchObject({
      code: 'edge.unknown_backend',
      severity: 1,
      source: 'edgeproof',
      range: { start: { line: 9, character: 33 }, end: { line: 9, character: 35 } },
    });
    expect(found!.message).toContain("did you mean 'app'?");
    const range = { start: { line: 9, character: 35 }, end: { line: 9, character: 35 } };
    await editor.edit('edge.yaml', range, 'p');
    expect(await editor.findings('edge.yaml')).toEqual([]);
  });

  test('other files are left alone, and a file that loses its keys stays ours', async () => {
    await editor.show('compose.yaml', 'services: { app: }\n');
    await editor.show('shop.yaml', EDGE);
    expect(await editor.findings('shop.yaml')).toEqual([]);
    await editor.show('shop.yaml', 'edg: 1\n');
    expect((await editor.findings('shop.yaml')).length).toBeGreaterThan(0);
    expect(
      await editor.ask('textDocument/hover', 'compose.yaml', { position: { line: 0, character: 1 } }),
    ).toBe(null);
  });

  test('a file with an address that names none does not disturb the others', async () => {
    await editor.show('edge.yaml', EDGE);
    const { connection } = editor;
    const odd = [
      'file:///%',
      'file://host/share/edge.yaml',
      'file:///a%2Fb/edge.yaml',
      'untitled:edge.yaml',
      '',
    ];
    for (const uri of odd)
      await connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri, languageId: 'yaml', version: 1, text: EDGE },
      });
    for (const uri of odd)
      expect(
        await connection.sendRequest('textDocument/hover', {
          textDocument: { uri },
          position: { line: 0, character: 1 },
        }),
      ).toMatchObject({ range: { end: { character: 8 } } });
    const position = { line: 9, character: 34 };
    const context = { includeDeclaration: true };
    expect(await editor.ask('textDocument/references', 'edge.yaml', { position, context })).toHaveLength(2);
    for (const uri of odd)
      await connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  });

  test('units are those of UTF-16, after a byte order mark and with CR LF', async () => {
    const text = EDGE.replace('backends:', "facts: [] # '😀é'\nbackends:").replace(
      "'shop.test:443'",
      "'😀.test:443', x y",
    );
    await editor.show('units.yaml', text.replaceAll('\n', '\r\n'));
    const found = await editor.findings('units.yaml');
    expect(found.map(({ range }) => range.start)).toContainEqual({ line: 6, character: 33 });
  });
});

describe('a text that does not parse', () => {
  const broken = EDGE.replace("['shop.test:443']", "['shop.test:443'").replace('  app: {', '  "app: {');

  test('has completion and hover', async () => {
    const { text, position } = atCursor(
      broken.replace('req.url.path.startsWith', 'req.url.pa‸th.startsWith'),
    );
    await editor.show('edge.yaml', text);
    const hover = await editor.ask<Hover>('textDocument/hover', 'edge.yaml', { position });
    expect(hover.contents).toMatchObject({
      value: expect.stringContaining('req.url.path: string') as string,
    });
    const list = await editor.ask<CompletionList>('textDocument/completion', 'edge.yaml', { position });
    expect(list.items.map(({ label }) => label)).toContain('req.url.path');
  });
});

describe('recorded traffic', () => {
  const hoverOn = async (expression: string): Promise<string> => {
    const { text, position } = atCursor(EDGE.replace("req.url.path.startsWith('/x')", expression));
    await editor.show('edge.yaml', text);
    const hover = await editor.ask<Hover>('textDocument/hover', 'edge.yaml', { position });
    return (hover.contents as { readonly value: string }).value;
  };

  test('hover has the value on the last request, unless a request alone does not have it', async () => {
    expect(await hoverOn("req.headers['x-te‸am'][0] == 'red'")).toContain(
      "`req.headers['x-team']` is `['blue']`",
    );
    expect(await hoverOn("req.head‸ers['x-team'][0] == 'red'")).toContain('`{');
    expect(await hoverOn("req.url.path.starts‸With('/x')")).toContain(
      "On the last recorded request `req.url.path.startsWith('/x')` is `true`.",
    );
    expect(await hoverOn("req.url.que‸ry == ''")).toContain("`req.url.query` is `'page=2'`");
    expect(await hoverOn('conn.ts.sta‸rt == time.now')).not.toContain('recorded');
    expect(await hoverOn('time.no‸w == conn.ts.start')).not.toContain('recorded');
  });

  test('its headers are offered', async () => {
    const { text, position } = atCursor(EDGE.replace("req.url.path.startsWith('/x')", "req.headers['‸']"));
    await editor.show('edge.yaml', text);
    const list = await editor.ask<CompletionList>('textDocument/completion', 'edge.yaml', { position });
    expect(list.items.map(({ label }) => label)).toEqual(['accept', 'host', 'user-agent', 'x-team']);
  });
});

describe('code actions', () => {
  const all = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const actionsIn = (range: object, only?: readonly string[]): Promise<CodeAction[]> =>
    editor.ask('textDocument/codeAction', 'edge.yaml', { range, context: { diagnostics: [], only } });

  test('repair what is found, one by one and all at once', async () => {
    await editor.show(
      'edge.yaml',
      EDGE.replace('actions:\n', 'actions:\n').replace('type: deny', 'type: deni'),
    );
    const found = await editor.findings('edge.yaml', ({ diagnostics }) => diagnostics.length > 0);
    const [repair] = await actionsIn(found[0]!.range, ['quickfix']);
    expect(repair).toMatchObject({ kind: 'quickfix' });
    expect(repair!.edit!.changes![editor.uriOf('edge.yaml')]).toMatchObject([{ newText: 'deny' }]);
  });

  test('the edit of all safe repairs is made when it is chosen', async () => {
    await editor.show('policy.yaml', 'on_http_request:\n  - Actions: [{ type: deny }]\n');
    await editor.findings('policy.yaml', ({ diagnostics }) => diagnostics.length > 0);
    const [action] = await editor.ask<CodeAction[]>('textDocument/codeAction', 'policy.yaml', {
      range: all,
      context: { diagnostics: [], only: ['source.fixAll'] },
    });
    expect(action!.edit).toBeUndefined();
    const resolved = await editor.connection.sendRequest<CodeAction>('codeAction/resolve', action);
    expect(resolved.kind).toBe('source.fixAll.edgeproof');
  });

  test('quote a value', async () => {
    await editor.show('edge.yaml', EDGE);
    const position = { line: 9, character: 34 };
    const [action] = await actionsIn({ start: position, end: position }, ['refactor']);
    expect(action!.edit!.changes![editor.uriOf('edge.yaml')]).toMatchObject([{ newText: "'app'" }]);
  });
});
