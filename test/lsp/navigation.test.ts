import type {
  DocumentSymbol,
  FoldingRange,
  Location,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver-protocol/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatPolicy } from '../../src/policy/document/format.ts';
import { folderWith } from '../folder.ts';
import { IS_FULL } from '../random.ts';
import { Editor, atCursor } from './client.ts';

const EDGE = `ip_policies:
  office: { rules: [{ cidr: 203.0.113.0/24, action: allow }] }
backends:
  app: &one { static: { address: 'localhost:3000' } }
  'other': *one
  both: { weighted: { app: 1, other: 2 } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /admin
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /
          backend: { backend_id: "both" }
          traffic_policy: { file: policy.yaml }
`;
const POLICY = `on_http_request:
  - name: keyed
    expressions:
      - req.headers['x-key'][0] == secrets.get('vault', 'key')
    actions:
      - type: restrict-ips
        config: { enforce: true, ip_policies: [office] }
`;
const SCENARIO = `edge: edge.yaml
secrets: { vault: { key: made-up } }
upstreams: { app: { status: 200 } }
cases:
  - name: people in
    request: /
    expect: { upstream: app, because: { rule: keyed } }
`;
const FILES = { 'edge.yaml': EDGE, 'policy.yaml': POLICY, 'shop.scenario.yaml': SCENARIO };
const folder = folderWith({ ...FILES, 'apart/edge.yaml': EDGE });
let editor: Editor;
beforeAll(async () => {
  editor = await new Editor(folder).start({ exact: false, delay: 0 });
  for (const [name, text] of Object.entries(FILES)) if (name !== 'policy.yaml') await editor.show(name, text);
}, 300_000);
afterAll(async () => {
  expect(await editor.stop()).toBe(0);
});

/** A position in one of the files: the cursor is in the marked text, which is found there without its mark. */
function inFile(name: keyof typeof FILES, marked: string) {
  const { text } = atCursor(marked);
  expect(FILES[name].split(text)).toHaveLength(2);
  return atCursor(FILES[name].replace(text, () => marked)).position;
}
/** What places name, as `file:line:text`. */
function shown(places: readonly Location[]): string[] {
  return places.map(({ uri, range: { start, end } }) => {
    const name = Object.keys(FILES).find((each) => editor.uriOf(each) === uri)!;
    const line = FILES[name as keyof typeof FILES].split('\n')[start.line]!;
    return `${name}:${start.line + 1}:${line.slice(start.character, start.line === end.line ? end.character : undefined)}`;
  });
}
const ask = <Answer>(method: string, name: keyof typeof FILES, marked: string, more: object = {}) =>
  editor.ask<Answer>(`textDocument/${method}`, name, { position: inFile(name, marked), ...more });

test.each([
  ['edge.yaml', 'backend_id: a‸pp', ['edge.yaml:4:app']],
  ['edge.yaml', 'backend_id: "bo‸th"', ['edge.yaml:6:both']],
  ['edge.yaml', 'other‸: 2', ['edge.yaml:5:other']],
  ['edge.yaml', 'ip_policy_ids: [offi‸ce]', ['edge.yaml:2:office']],
  ['edge.yaml', "'other': *o‸ne", ["edge.yaml:4:{ static: { address: 'localhost:3000' } }"]],
  ['edge.yaml', 'file: pol‸icy.yaml', ['policy.yaml:1:']],
  ['policy.yaml', 'ip_policies: [of‸fice]', ['edge.yaml:2:office']],
  ['policy.yaml', "'va‸ult'", ['shop.scenario.yaml:2:vault']],
  ['policy.yaml', "'ke‸y')", ['shop.scenario.yaml:2:key']],
  ['shop.scenario.yaml', 'upstream: a‸pp', ['edge.yaml:4:app']],
  ['shop.scenario.yaml', 'rule: key‸ed', ['policy.yaml:2:keyed']],
  ['shop.scenario.yaml', 'edge: ed‸ge.yaml', ['edge.yaml:1:']],
  ['edge.yaml', 'match: /ad‸min', []],
] as const)('definition of %s %s', async (name, marked, expected) => {
  if (name === 'policy.yaml') await editor.show(name, POLICY);
  expect(shown(await ask<Location[]>('definition', name, marked))).toEqual(expected);
});

test('references are in all files that belong together, and in no others', async () => {
  const all = await ask<Location[]>('references', 'edge.yaml', 'backend_id: a‸pp', {
    context: { includeDeclaration: true },
  });
  expect(shown(all).sort()).toEqual([
    'edge.yaml:15:app',
    'edge.yaml:4:app',
    'edge.yaml:6:app',
    'shop.scenario.yaml:3:app',
    'shop.scenario.yaml:7:app',
  ]);
  const uses = await ask<Location[]>('references', 'edge.yaml', 'off‸ice: {', {
    context: { includeDeclaration: false },
  });
  expect(shown(uses).sort()).toEqual(['edge.yaml:14:office', 'policy.yaml:7:office']);
});

describe('rename', () => {
  const renamed = async (name: keyof typeof FILES, marked: string, newName: string) => {
    const { changes = {} } = await ask<WorkspaceEdit>('rename', name, marked, { newName });
    return Object.entries(FILES).map(([file, text]) => applied(text, changes[editor.uriOf(file)] ?? []));
  };

  test('in every file, in the quotes that are there', async () => {
    const [edge, policy, scenario] = await renamed('edge.yaml', "'oth‸er'", 'second.one');
    expect(edge).toBe(EDGE.replaceAll('other', 'second.one'));
    expect([policy, scenario]).toEqual([POLICY, SCENARIO]);
    const secrets = await renamed('policy.yaml', "'ke‸y')", 'new-key');
    expect(secrets[1]).toBe(POLICY.replace("'key')", "'new-key')"));
    expect(secrets[2]).toBe(SCENARIO.replace('key: made', 'new-key: made'));
  });

  test('a name that needs quotes gets them', async () => {
    const [, policy, scenario] = await renamed('policy.yaml', 'name: k‸eyed', 'a: b #1');
    expect(policy).toBe(POLICY.replace('keyed', "'a: b #1'"));
    expect(scenario).toBe(SCENARIO.replace('keyed', "'a: b #1'"));
  });

  test('what would not be a name, or is one already, is refused with the reason', async () => {
    await expect(renamed('edge.yaml', 'off‸ice: {', 'my office')).rejects.toThrow(/letters, digits/);
    await expect(renamed('edge.yaml', 'backend_id: a‸pp', 'both')).rejects.toThrow(
      /already a backend 'both'/,
    );
    await expect(renamed('policy.yaml', "'ke‸y')", "k'")).rejects.toThrow(/letters, digits/);
    await expect(renamed('policy.yaml', 'name: k‸eyed', ' ')).rejects.toThrow(/not empty/);
  });

  test('only what has a declaration can be renamed', async () => {
    expect(await ask('prepareRename', 'edge.yaml', 'match: /ad‸min')).toBe(null);
    expect(await ask('prepareRename', 'edge.yaml', 'backend_id: a‸pp')).toMatchObject({ placeholder: 'app' });
  });
});

test('symbols have the parts of the file by their names', async () => {
  const symbols = await editor.ask<DocumentSymbol[]>('textDocument/documentSymbol', 'edge.yaml');
  const outline = (all: readonly DocumentSymbol[]): unknown[] =>
    all.map(({ name, children = [] }) => (children.length === 0 ? name : [name, ...outline(children)]));
  expect(outline(symbols)).toEqual([
    ['ip_policies', 'office'],
    ['backends', 'app', 'both'],
    ['edges', ['https', ['shop', ['routes', '/admin', '/']]]],
  ]);
  for (const { range, selectionRange } of flat(symbols)) {
    expect(range.start.line).toBeLessThanOrEqual(selectionRange.start.line);
    expect(selectionRange.end.line).toBeLessThanOrEqual(range.end.line);
  }
});

function flat(all: readonly DocumentSymbol[]): DocumentSymbol[] {
  return all.flatMap((each) => [each, ...flat(each.children ?? [])]);
}

test('parts over several lines and comments fold', async () => {
  await editor.show('fold.edge.yaml', `# one\n# two\n${EDGE}`);
  const found = await editor.ask<FoldingRange[]>('textDocument/foldingRange', 'fold.edge.yaml');
  const lines = found.map(({ startLine, endLine, kind }) => [startLine, endLine, kind ?? '']);
  expect(lines).toContainEqual([0, 1, 'comment']);
  // `backends`, and the second route.
  expect(lines).toContainEqual([4, 7, '']);
  expect(lines).toContainEqual([17, 20, '']);
});

describe('formatting', () => {
  test.runIf(IS_FULL)('of a large text leaves the findings of others in time', async () => {
    const rules = Array.from({ length: 1_000 }, (_, at) => `  - {name: "r${at}",actions: [{type: "log"}]}\n`);
    await editor.show('large.policy.yaml', `on_http_request:\n${rules.join('')}`);
    await editor.findings('large.policy.yaml');
    const order: string[] = [];
    // Several, which take seconds: a check that waited for them would come last.
    const formatting = Array.from({ length: 4 }, () =>
      editor.ask<TextEdit[]>('textDocument/formatting', 'large.policy.yaml', { options }),
    );
    const formatted = Promise.all(formatting).finally(() => order.push('formatted'));
    await editor.show('small.policy.yaml', 'on_http_request: 1\n');
    expect(await editor.findings('small.policy.yaml')).not.toEqual([]);
    order.push('found');
    for (const edits of await formatted) expect(edits.length).toBeGreaterThan(0);
    expect(order).toEqual(['found', 'formatted']);
    for (const name of ['large.policy.yaml', 'small.policy.yaml']) await editor.hide(name);
  });

  const untidy = `on_http_request:
  - {name: one, expressions: [req.method == 'GET'], actions: [{type: deny}]}
  - {name: two, actions: [{type: deny}]}
  - {name: three, actions: [{type: deny}]}
`;
  const formatted = (formatPolicy(untidy) as { readonly text: string }).text;
  const options = { tabSize: 2, insertSpaces: true };

  test('is that of fmt', async () => {
    await editor.show('untidy.policy.yaml', untidy);
    const edits = await editor.ask<TextEdit[]>('textDocument/formatting', 'untidy.policy.yaml', { options });
    expect(applied(untidy, edits)).toBe(formatted);
    await editor.show('untidy.policy.yaml', formatted);
    expect(await editor.ask('textDocument/formatting', 'untidy.policy.yaml', { options })).toEqual([]);
  });

  test('of lines leaves the others as they are', async () => {
    await editor.show('untidy.policy.yaml', untidy);
    const range = { start: { line: 2, character: 0 }, end: { line: 3, character: 0 } };
    const edits = await editor.ask<TextEdit[]>('textDocument/rangeFormatting', 'untidy.policy.yaml', {
      range,
      options,
    });
    const [head, one, , three] = untidy.split('\n');
    expect(applied(untidy, edits)).toBe(
      [head, one, '  - name: two', '    actions:', '      - type: deny', three, ''].join('\n'),
    );
    const own = (formatPolicy(applied(untidy, edits)) as { readonly text: string }).text;
    expect(own).toBe(formatted);
  });

  test('a text with errors, and files of other kinds, are left alone', async () => {
    await editor.show('untidy.policy.yaml', `${untidy}  - [\n`);
    expect(await editor.ask('textDocument/formatting', 'untidy.policy.yaml', { options })).toEqual([]);
    expect(await editor.ask('textDocument/formatting', 'shop.scenario.yaml', { options })).toEqual([]);
  });
});

/** A text after edits, which do not overlap. */
function applied(text: string, edits: readonly TextEdit[]): string {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  const offset = ({ line, character }: { line: number; character: number }): number =>
    (starts[line] ?? text.length) + character;
  return edits
    .toSorted((one, other) => offset(other.range.start) - offset(one.range.start))
    .reduce(
      (now, { range, newText }) => now.slice(0, offset(range.start)) + newText + now.slice(offset(range.end)),
      text,
    );
}
