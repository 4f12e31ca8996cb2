import type { RuleName } from './rules.ts';

/** A small project without breaches, in which each of the others is planted. */
// table: files
export const CLEAN: Readonly<Record<string, string>> = {
  'README.md': '# Small\n\n```sh\n# a comment, no title\n```\n',
  'docs/page.md': '<!-- Generated. -->\n\n# Page\n\n## Section\n',
  'src/index.ts':
    "export { listen } from './proxy/listen.ts';\nexport { handlers } from './edge/compile.ts';\n",
  'src/http/fields.ts': 'export const NONE: readonly string[] = [];\n',
  'src/net/address.ts':
    "import ipaddr from 'ipaddr.js';\nexport const parse = (text: string) => ipaddr.parse(text);\n",
  'src/diagnostics/finding.ts': 'export interface Finding {\n  says: string;\n}\n',
  'src/mechanisms/rules.ts':
    "import { parse } from '../net/address.ts';\nexport const rules = (text: string) => parse(text);\n",
  'src/engine/run.ts': "import { NONE } from '../http/fields.ts';\nexport const run = () => NONE;\n",
  'src/modules/gate/schema.ts': "import * as z from 'zod';\nexport type Gate = z.output<z.ZodString>;\n",
  'src/modules/gate/index.ts':
    "import { rules } from '../../mechanisms/rules.ts';\nimport type { Gate } from './schema.ts';\nexport const gate = (config: Gate) => rules(config);\n",
  'src/modules/door/index.ts':
    "import { run } from '../../engine/run.ts';\nexport const door = () => run();\n",
  'src/modules/table.ts':
    "import { door } from './door/index.ts';\nimport { gate } from './gate/index.ts';\nexport const TABLE = { door, gate };\n",
  'src/edge/compile.ts':
    "import { TABLE } from '../modules/table.ts';\nimport { document } from '../document/read.ts';\nexport const handlers = () => [TABLE, document];\n",
  'src/document/read.ts':
    "import { parse } from 'yaml';\nimport type { Finding } from '../diagnostics/finding.ts';\nexport const document = (text: string): Finding => ({ says: String(parse(text)) });\n",
  'src/proxy/listen.ts':
    "import { createServer } from 'node:http';\nimport { run } from '../engine/run.ts';\nexport const listen = () => createServer(run);\n",
  'src/cli/main.ts':
    "import { readFileSync } from 'node:fs';\nconst { listen } = await import('../index.ts');\nconsole.log(listen, readFileSync, await import(process.argv[2]!));\n",
  'test/fields.test.ts': "import '../src/http/fields.ts';\n",
};

/** Texts of a given length. */
export const LINES = (count: number, line: string) => `${line}\n`.repeat(count);
export const FUNCTION = (lines: number) => `export function long() {\n${LINES(lines - 2, '  void 0;')}}\n`;
export const TABLE = (comment: string, row: string, rows: number) =>
  `${comment}\nexport const T = [\n${LINES(rows, row)}];\n`;

/** One planted breach: its rule, its file and text, the line where it is found, and a word of the advice. */
export type Planted = readonly [rule: RuleName, path: string, text: string, line: number, advice: RegExp];

// table: a breach of each kind
export const PLANTED: readonly Planted[] = [
  ['files parse', 'src/net/x.ts', 'export const = 1;', 1, /repair/],
  [
    'rooms import only what the table lists',
    'src/http/up.ts',
    "export * from '../net/address.ts';",
    1,
    /move it down/,
  ],
  [
    'rooms import only what the table lists',
    'src/mechanisms/x.ts',
    "import '../engine/run.ts';",
    1,
    /as an argument/,
  ],
  [
    'rooms import only what the table lists',
    'src/engine/x.ts',
    "\nimport '../mechanisms/rules.ts';",
    2,
    /engine may not/,
  ],
  [
    'rooms import only what the table lists',
    'src/engine/x.ts',
    "import type { Finding } from '../document/read.ts';",
    1,
    /document/,
  ],
  [
    'rooms import only what the table lists',
    'src/engine/x.ts',
    "type T = import('../proxy/listen.ts').T;",
    1,
    /proxy/,
  ],
  [
    'rooms import only what the table lists',
    'src/engine/x.ts',
    "await import('../proxy/listen.ts');",
    1,
    /proxy/,
  ],
  [
    'rooms import only what the table lists',
    'src/edge/document/x.ts',
    "import '../compile.ts';",
    1,
    /edge\/document may not/,
  ],
  [
    'rooms import only what the table lists',
    'src/proxy/x.ts',
    "import '../edge/compile.ts';",
    1,
    /proxy may not import edge/,
  ],
  [
    'rooms import only what the table lists',
    'src/cli/x.ts',
    "import '../../test/fields.test.ts';",
    1,
    /outside of src/,
  ],
  [
    'rooms import only what the table lists',
    'src/attic/x.ts',
    "import '../http/fields.ts';",
    1,
    /no room of the table/,
  ],
  [
    'siblings do not import each other',
    'src/modules/door/x.ts',
    "import '../gate/index.ts';",
    1,
    /mechanisms/,
  ],
  [
    'siblings do not import each other',
    'src/policy/actions/deny/x.ts',
    "import '../log/index.ts';",
    1,
    /sibling log/,
  ],
  [
    'imports are written out',
    'src/proxy/x.ts',
    'export const load = (name: string) => import(name);',
    1,
    /literal/,
  ],
  ['imports have no cycles', 'src/http/fields.ts', "import './fields.ts';", 1, /→/],
  [
    'packages are imported in their home only',
    'src/http/x.ts',
    "import ipaddr from 'ipaddr.js';",
    1,
    /src\/net/,
  ],
  [
    'packages are imported in their home only',
    'src/modules/gate/index.ts',
    "import * as z from 'zod';",
    1,
    /schema/,
  ],
  [
    'packages are imported in their home only',
    'src/edge/x.ts',
    "import { parse } from 'yaml';",
    1,
    /src\/document/,
  ],
  ['packages are imported in their home only', 'src/engine/x.ts', "import 'node:http';", 1, /src\/proxy/],
  ['packages are imported in their home only', 'src/net/x.ts', "import 'node:crypto';", 1, /src\/crypto/],
  ['packages are imported in their home only', 'src/net/x.ts', "import 'node:sqlite';", 1, /src\/store/],
  [
    'packages are imported in their home only',
    'src/net/x.ts',
    "import { setTimeout } from 'node:timers/promises';",
    1,
    /ask/,
  ],
  ['packages are imported in their home only', 'src/net/x.ts', "import 'fs';", 1, /no home/],
  [
    'packages are imported in their home only',
    'src/net/x.ts',
    "import 'left-pad/even.js';",
    1,
    /left-pad has no home/,
  ],
  [
    'packages are imported in their home only',
    'src/net/x.ts',
    "import '@some/thing/deep';",
    1,
    /@some\/thing has no home/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/engine/x.ts',
    'export const t = Date.now();',
    1,
    /nowMs/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/engine/x.ts',
    'export const t = new Date(0);',
    1,
    /nowMs/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/edge/x.ts',
    'export const r = Math.random();',
    1,
    /random/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/edge/x.ts',
    'const { random } = Math;',
    1,
    /random/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/edge/x.ts',
    "Math['random']();",
    1,
    /random/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/mechanisms/x.ts',
    'setTimeout(() => 1);',
    1,
    /driver/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/mechanisms/x.ts',
    'setInterval(() => 1, 2);',
    1,
    /due/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/mechanisms/x.ts',
    'queueMicrotask(() => 1);',
    1,
    /sync/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/modules/gate/x.ts',
    "fetch('http://x');",
    1,
    /answers/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/modules/x.ts',
    'console.log(1);',
    1,
    /cli/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/expression/x.ts',
    'export const e = process.env;',
    1,
    /cli/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/policy/x.ts',
    'export const g = globalThis.Date;',
    1,
    /name/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/edge/document/x.ts',
    'export const o = { Date };',
    1,
    /nowMs/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/analysis/x.ts',
    'export const f = (at = Date) => at;',
    1,
    /now/,
  ],
  [
    'pure rooms use no clock, chance, timer, network or console',
    'src/net/x.ts',
    '{ const Date = 1; void Date; }\nvoid Date;',
    2,
    /now/,
  ],
  ['code is not made from text', 'src/proxy/x.ts', "eval('1');", 1, /closures/],
  ['code is not made from text', 'src/proxy/x.ts', "\n\nnew Function('return 1');", 3, /closures/],
  ['code is not made from text', 'test/x.ts', "Function('return 1');", 1, /parser/],
  ['files are short', 'src/net/x.ts', LINES(301, '// line'), 1, /split it/],
  ['files are short', 'test/x.test.ts', LINES(401, '// line'), 1, /split it/],
  ['files are short', 'src/modules/gate/index.ts', LINES(151, '// line'), 1, /mechanism/],
  ['files are short', 'src/net/x.ts', TABLE('// no table', "  'row',", 300), 1, /split it/],
  ['functions are short', 'src/net/x.ts', FUNCTION(71), 1, /name its parts/],
  [
    'functions are short',
    'src/net/x.ts',
    `\nexport const f = () => [\n${LINES(70, '  1,')}];`,
    2,
    /name its parts/,
  ],
  [
    'functions are short',
    'bench/x.ts',
    `export default { m() {\n${LINES(70, '  void 0;')}} };`,
    1,
    /name its parts/,
  ],
  ['tables are data', 'src/net/x.ts', TABLE('// table', "  'row',", 3), 1, /reason/],
  [
    'tables are data',
    'src/net/x.ts',
    TABLE('// table: rows', '  () => { return 1; },', 3),
    1,
    /data, not code/,
  ],
  ['tables are data', 'src/net/x.ts', '// table: of what?\n', 1, /remove the comment/],
  ['nothing is called utils', 'src/utils/x.ts', '', 1, /room is missing/],
  ['nothing is called utils', 'src/net/helpers.ts', '', 1, /room is missing/],
  ['nothing is called utils', 'src/types/x.ts', '', 1, /room is missing/],
  ['names are snake_case', 'src/net/ipAddress.ts', '', 1, /snake_case/],
  ['names are snake_case', 'src/net-work/x.ts', '', 1, /net-work/],
  ['names are snake_case', 'docs/Page.md', '# Page', 1, /snake_case/],
  ['no file is dead', 'src/net/orphan.ts', 'export {};', 1, /remove it/],
  ['pages have one title', 'docs/page.md', 'no title\n', 1, /begin it/],
  ['pages have one title', 'docs/page.md', '# One\n\n# Two\n', 3, /second title/],
  ['pages have one title', 'README.md', 'text\n\n# Late\n', 1, /before the title/],
];
