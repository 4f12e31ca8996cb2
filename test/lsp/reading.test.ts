import type {
  CompletionItem,
  CompletionList,
  DocumentHighlight,
  DocumentLink,
  Hover,
  SelectionRange,
  SignatureHelp,
  SymbolInformation,
} from 'vscode-languageserver-protocol/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderWith } from '../folder.ts';
import { Editor, atCursor } from './client.ts';

const EDGE = `backends:
  app: &one { static: { address: 'localhost:3000' } }
  other: *one
  both:
    weighted:
      app: 3
      other: 1
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: both }
          traffic_policy: { file: policy.yaml }
`;
const POLICY = `on_http_request:
  - name: bots
    expressions: ["req.headers['x-kind'].exists(x, x.replace('a', 'b') == 'bot')"]
    actions:
      - type: deny
`;
const SCENARIO = `edge: edge.yaml
cases:
  - name: bots are out
    request: { path: /, headers: { x-kind: bot } }
    expect: { because: { rule: bots } }
`;
const FILES = { 'edge.yaml': EDGE, 'policy.yaml': POLICY, 'shop.scenario.yaml': SCENARIO };
type Name = keyof typeof FILES;
const folder = folderWith(FILES);
let editor: Editor;
beforeAll(async () => {
  editor = await new Editor(folder).start({ exact: false, delay: 0 });
  for (const [name, text] of Object.entries(FILES)) await editor.show(name, text);
}, 300_000);
afterAll(async () => {
  expect(await editor.stop()).toBe(0);
});

/** Asks at the mark in a part of a file, which is found there without its mark. */
function ask<Answer>(method: string, name: Name, marked: string, more: object = {}): Promise<Answer> {
  const { text } = atCursor(marked);
  expect(FILES[name].split(text)).toHaveLength(2);
  const { position } = atCursor(FILES[name].replace(text, () => marked));
  return editor.ask(`textDocument/${method}`, name, { position, ...more });
}
/** As `ask`, of a file in which the mark, and more text, has been typed. */
async function typed<Answer>(method: string, name: Name, from: string, to: string): Promise<Answer> {
  const { text, position } = atCursor(FILES[name].replace(from, () => to));
  await editor.show(name, text);
  const answer = await editor.ask<Answer>(`textDocument/${method}`, name, { position });
  await editor.show(name, FILES[name]);
  return answer;
}

test.each([
  ['edge.yaml', 'backend_id: bo‸th', '```yaml\nboth:\n  weighted:\n    app: 3\n    other: 1\n```'],
  ['edge.yaml', '  ap‸p: 3', "```yaml\napp: &one { static: { address: 'localhost:3000' } }\n```"],
  ['edge.yaml', '*on‸e', "```yaml\n{ static: { address: 'localhost:3000' } }\n```"],
  ['shop.scenario.yaml', 'rule: bo‸ts', 'In `policy.yaml`:\n\n```yaml\nname: bots\nexpressions:'],
  ['policy.yaml', "['x-ki‸nd']", "```\nreq.headers['x-kind']: list(string)\n```"],
  ['policy.yaml', ', x‸.replace', '```\nx: string\n```'],
  ['policy.yaml', "('a', 'b') =‸= 'bot'", "```\nx.replace('a', 'b') == 'bot': bool\n```"],
] as const)('hover in %s at %s shows what is meant', async (name, marked, expected) => {
  const { contents } = await ask<Hover>('hover', name, marked);
  expect((contents as { readonly value: string }).value).toContain(expected);
});

test('the other places of a name are highlighted', async () => {
  const found = await ask<DocumentHighlight[]>('documentHighlight', 'edge.yaml', '      ap‸p: 3');
  expect(found.map(({ range, kind }) => [range.start.line, kind])).toEqual([
    [1, 3],
    [5, 2],
  ]);
  expect(await ask('documentHighlight', 'edge.yaml', 'mat‸ch: /')).toEqual([]);
});

test('files that are named have links', async () => {
  const [link, ...others] = await editor.ask<DocumentLink[]>('textDocument/documentLink', 'edge.yaml');
  expect(link).toMatchObject({
    target: editor.uriOf('policy.yaml'),
    range: { start: { line: 15, character: 34 } },
  });
  expect(others).toEqual([]);
});

test('names of the project are found by some of their letters', async () => {
  const found = await editor.connection.sendRequest<SymbolInformation[]>('workspace/symbol', {
    query: 'BOS',
  });
  expect(found.map(({ name, containerName }) => [name, containerName])).toEqual([
    ['bots', 'rule in policy.yaml'],
    ['bots are out', 'case in shop.scenario.yaml'],
  ]);
});

test('a selection grows by the parts around it', async () => {
  const { position } = atCursor(EDGE.replace('backend_id: both', 'backend_id: bo‸th'));
  const [found] = await editor.ask<SelectionRange[]>('textDocument/selectionRange', 'edge.yaml', {
    positions: [position],
  });
  const lines = EDGE.split('\n');
  const texts: string[] = [];
  for (let at: SelectionRange | undefined = found; at !== undefined; at = at.parent) {
    const { start, end } = at.range;
    if (start.line === end.line) texts.push(lines[start.line]!.slice(start.character, end.character));
  }
  expect(texts).toEqual([
    'both',
    'backend_id: both',
    '{ backend_id: both }',
    'backend: { backend_id: both }',
  ]);
});

describe('the forms of a function', () => {
  const call = (to: string) =>
    typed<SignatureHelp | null>('signatureHelp', 'policy.yaml', "x.replace('a', 'b') == 'bot'", to);
  const active = ({ signatures, activeSignature, activeParameter }: SignatureHelp): string => {
    const { label, parameters } = signatures[activeSignature ?? 0]!;
    const [start, end] = parameters![activeParameter!]!.label as [number, number];
    return `${label.slice(0, start)}‸${label.slice(start, end)}‸${label.slice(end)}`;
  };

  test('are shown within its brackets, with the argument', async () => {
    expect(active((await call("x.replace(‸'a', 'b')"))!)).toBe('string.replace(‸string‸, string) → string');
    expect(active((await call("x.replace('a,(', ‸'b')"))!)).toBe('string.replace(string, ‸string‸) → string');
    expect(active((await call("x.replace('a', 'b', ‸1)"))!)).toBe(
      'string.replace(string, string, ‸int‸) → string',
    );
    expect(active((await call('size([1, ‸2])'))!)).toMatch(/^size\(‸/);
  });

  test('and those of the call around them outside', async () => {
    for (const to of ["x.replace('a', 'b') ‸== ''", '(‸x)', '[‸x]'])
      expect(active((await call(to))!)).toBe('target.exists(x, ‸expression‸)');
    expect(await call('made.up(‸)')).toBe(null);
    expect(await ask('signatureHelp', 'policy.yaml', "[\"req.head‸ers['x-kind']")).toBe(null);
    expect(await ask('signatureHelp', 'policy.yaml', 'type: de‸ny')).toBe(null);
  });
});

describe('completion', () => {
  const itemsOf = async (name: Name, from: string, to: string): Promise<readonly CompletionItem[]> =>
    (await typed<CompletionList>('completion', name, from, to)).items;
  const replaced = ({ textEdit }: CompletionItem) => {
    const { range, newText } = textEdit as { range: { start: object; end: object }; newText: string };
    return [range.start, range.end, newText];
  };

  test('replaces the word that the cursor is in, and no colon', async () => {
    const [backend] = await itemsOf('edge.yaml', 'backend_id: both', 'backend_id: o‸xx ');
    expect(replaced(backend!)).toEqual([{ line: 14, character: 33 }, { line: 14, character: 36 }, 'other']);
    const [key] = await itemsOf('edge.yaml', 'match_type: path', 'match_‸x: path');
    expect(replaced(key!)).toEqual([{ line: 12, character: 10 }, { line: 12, character: 17 }, 'match_type']);
    const functions = await itemsOf('policy.yaml', "x.replace('a', 'b')", "req.method.repl‸ace('a', 'b')");
    const own = functions.find(({ label }) => label.includes('replace'));
    expect(replaced(own!)[2]).toBe('req.method.replace');
  });

  test('after a bracket has what its type has', async () => {
    const labels = async (to: string) =>
      (await itemsOf('policy.yaml', "x.replace('a', 'b') == 'bot'", to)).map(({ label }) => label);
    const ofText = await labels("req.headers['x-kind'][0].‸");
    expect(ofText).toContain('startsWith(');
    expect(ofText).not.toContain('exists(');
    const ofList = await labels("(req.headers['x-kind']).‸");
    expect(ofList).toContain('exists(');
    expect(ofList).not.toContain('startsWith(');
    // A loop variable is not known alone.
    expect(await labels('x[0].‸')).toEqual(expect.arrayContaining(['exists(', 'startsWith(']));
  });
});
