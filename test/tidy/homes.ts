import { placeOf } from './rooms.ts';
import { lineOf } from './tree.ts';
import type { Rule } from './tree.ts';

/** A package or builtin lives where its path begins with one of these; a RegExp looks at the whole path. */
type Home = readonly (string | RegExp)[];

// table: packages and the one room that may import each
const PACKAGES: Readonly<Record<string, Home>> = {
  'ipaddr.js': ['src/net/'],
  'mmdb-lib': ['src/policy/env/mmdb.ts'],
  re2js: ['src/regex/'],
  zod: [/^src\/(?:.*\/)?(?:\w+_)?schemas?\.ts$/, 'src/control/resources/', 'src/mcp/'],
  // For types alone: the matchers extend those of Vitest.
  vitest: ['src/integrations/testing/vitest.ts'],
  yaml: ['src/config_file/', 'src/policy/document/'],
  commander: ['src/cli/'],
  // Patterns of files and tags on the command line.
  picomatch: ['src/cli/named_files.ts', 'src/project_files/select.ts'],
  '@modelcontextprotocol/server': ['src/mcp/'],
  // Edits of formatting keep what is not changed.
  diff: ['src/lsp/'],
  'vscode-languageserver': ['src/lsp/'],
  'vscode-languageserver-textdocument': ['src/lsp/'],
  pg: ['src/control/store/'],
  undici: ['src/clients/', 'src/benchmark/load/'],
  hono: ['src/control/api/'],
  '@node-saml/node-saml': ['src/clients/'],
  '@xmldom/xmldom': ['src/clients/', 'src/auth/saml/'],
  'openid-client': ['src/clients/'],
  'xml-crypto': ['src/clients/'],
  '@codemirror/autocomplete': ['src/pages/'],
  '@codemirror/commands': ['src/pages/'],
  '@codemirror/lang-yaml': ['src/pages/'],
  '@codemirror/language': ['src/pages/'],
  '@codemirror/lint': ['src/pages/'],
  '@codemirror/search': ['src/pages/'],
  '@codemirror/state': ['src/pages/'],
  '@codemirror/view': ['src/pages/'],
  '@lezer/highlight': ['src/pages/'],
  '@preact/signals': [/\/ui\//],
  preact: [/^src\/(?:pages|\w+\/ui)\//],
  uplot: ['src/pages/'],
  '@noble/ciphers': ['src/browser/'],
  '@noble/curves': ['src/browser/'],
  '@noble/hashes': ['src/browser/'],
  buffer: ['src/browser/'],
  'micro-rsa-dsa-dh': ['src/browser/'],
  pako: ['src/browser/'],
  'path-browserify': ['src/browser/'],
  punycode: ['src/browser/'],
};

const WIRE = [
  'src/dev_idp/',
  'src/inspector/server/',
  'src/io/',
  'src/clients/',
  'src/http1/',
  'src/http2/',
  'src/server/',
  'src/tunnel/',
  'src/control/api/',
  'src/integrations/',
];
/** Besides src/cli and src/project_files, which may import every builtin. */
const FILES = [
  'src/control/',
  'src/replay/',
  'src/events/',
  'src/inspector/server/',
  'src/mcp/',
  'src/lsp/',
  'src/server/pages.ts',
  'src/reports/page.ts',
];

// table: builtins of Node and the rooms that may import each, besides src/cli
const BUILTINS: Readonly<Record<string, Home>> = {
  'node:buffer': [...WIRE, 'src/crypto/', 'src/simulator/', 'src/engine/drivers/'],
  'node:crypto': ['src/crypto/'],
  'node:dns': ['src/io/', 'src/clients/'],
  'node:events': [...WIRE, 'src/events/', 'src/replay/'],
  'node:fs': FILES,
  'node:fs/promises': FILES,
  'node:http': WIRE,
  'node:http2': WIRE,
  'node:https': WIRE,
  'node:module': ['src/loading/'],
  'node:net': [...WIRE, 'src/benchmark/load/', 'src/control/store/'],
  'node:path': FILES,
  'node:perf_hooks': [...WIRE, 'src/benchmark/'],
  'node:sqlite': ['src/control/store/'],
  'node:sea': ['src/loading/'],
  'node:stream': [...WIRE, 'src/engine/drivers/', 'src/lsp/', 'src/mcp/'],
  'node:stream/promises': WIRE,
  'node:timers': WIRE,
  'node:timers/promises': [...WIRE, 'src/control/'],
  'node:tls': WIRE,
  'node:url': ['src/edge/document/', 'src/auth/cookie_domain_check.ts', 'src/lsp/', 'src/mcp/'],
  'node:util': ['src/control/', 'src/diagnostics/', 'src/simulator/', 'src/engine/drivers/', ...WIRE],
  'node:v8': ['src/benchmark/', 'src/cli/heap_limit.ts', 'src/lsp/free_memory.ts'],
  'node:vm': ['src/benchmark/', 'src/lsp/free_memory.ts'],
  'node:zlib': [
    'src/inspector/server/frame_log.ts',
    'src/auth/saml/inflate.ts',
    'src/policy/env/checksums.ts',
    'src/io/',
    'src/simulator/',
    'src/engine/drivers/',
    'src/events/senders/',
  ],
};

/** Each package, and each builtin of Node, is imported only in its home. */
export const packagesStayAtHome: Rule = (tree) =>
  tree.sources.flatMap((file) => {
    if (placeOf(file.path) === null) return [];
    return file.imports.flatMap(({ specifier, offset }) => {
      const message =
        specifier === null || specifier.startsWith('.') ? null : problemOf(file.path, specifier);
      return message === null ? [] : [{ path: file.path, line: lineOf(file, offset), message }];
    });
  });

function problemOf(path: string, specifier: string): string | null {
  const isBuiltin = specifier.startsWith('node:');
  const name = isBuiltin ? specifier : packageOf(specifier);
  const home = isBuiltin ? homeOfBuiltin(name) : PACKAGES[name];
  if (home === undefined) {
    return `${name} has no home; give it one in test/tidy/homes.ts, with a decision record, or do without it`;
  }
  const isBuiltinOfCli = isBuiltin && /^src\/(?:cli|project_files)\//.test(path);
  if (
    isBuiltinOfCli ||
    home.some((place) => (typeof place === 'string' ? path.startsWith(place) : place.test(path)))
  ) {
    return null;
  }
  return `${name} may be imported only in ${home.map(String).join(', ')}; ask that room for what you need`;
}

function homeOfBuiltin(name: string): Home | undefined {
  return (
    BUILTINS[name] ??
    (/^node:(?:cluster|module|os|child_process|worker_threads|readline)$/.test(name)
      ? ['src/cli/', 'src/control/', 'src/lsp/', 'src/mcp/']
      : undefined)
  );
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
}
