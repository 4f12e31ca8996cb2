import { placeOf } from './rooms.ts';
import { lineOf } from './tree.ts';
import type { Rule } from './tree.ts';

/** A package or builtin lives where its path begins with one of these; a RegExp looks at the whole path. */
type Home = readonly (string | RegExp)[];

// table: packages and the one room that may import each
const PACKAGES: Readonly<Record<string, Home>> = {
  'ipaddr.js': ['src/net/'],
  re2js: ['src/regex/'],
  zod: [/^src\/(?:.*\/)?(?:\w+_)?schemas?\.ts$/, 'src/resources/'],
  // For types alone: the matchers extend those of Vitest.
  vitest: ['src/testing/vitest.ts'],
  yaml: ['src/document/', 'src/policy/document/'],
  commander: ['src/cli/'],
  undici: ['src/answers/', 'src/benchmark/load/'],
  ws: ['src/answers/', 'src/proxy/'],
  hono: ['src/api/'],
  '@hono/node-server': ['src/api/'],
  '@node-saml/node-saml': ['src/answers/'],
  '@xmldom/xmldom': ['src/answers/', 'src/mechanisms/login/saml/'],
  'openid-client': ['src/answers/'],
  jose: ['src/crypto/'],
  selfsigned: ['src/cli/'],
};

const WIRE = [
  'src/development_idp/',
  'src/proxy/',
  'src/answers/',
  'src/tunnel/',
  'src/api/',
  'src/adapters/',
];
const FILES = ['src/store/', 'src/recorder/', 'src/events/'];

// table: builtins of Node and the rooms that may import each, besides src/cli
const BUILTINS: Readonly<Record<string, Home>> = {
  'node:buffer': [...WIRE, 'src/crypto/', 'src/simulator/'],
  'node:crypto': ['src/crypto/'],
  'node:dns': ['src/answers/'],
  'node:events': [...WIRE, 'src/events/', 'src/recorder/'],
  'node:fs': FILES,
  'node:fs/promises': FILES,
  'node:http': WIRE,
  'node:http2': WIRE,
  'node:https': WIRE,
  'node:net': [...WIRE, 'src/benchmark/load/'],
  'node:path': FILES,
  'node:perf_hooks': [...WIRE, 'src/benchmark/'],
  'node:sqlite': ['src/store/'],
  'node:stream': [...WIRE, 'src/simulator/'],
  'node:stream/promises': WIRE,
  'node:timers': WIRE,
  'node:timers/promises': WIRE,
  'node:tls': WIRE,
  'node:url': ['src/edge/document/'],
  'node:util': ['src/diagnostics/', 'src/simulator/', ...WIRE],
  'node:v8': ['src/benchmark/', 'src/cli/young_generation.ts'],
  'node:vm': ['src/benchmark/'],
  'node:zlib': ['src/answers/', 'src/simulator/', 'src/proxy/'],
};

/** Each package, and each builtin of Node, is imported only in its home. */
export const packagesStayAtHome: Rule = (tree) =>
  tree.sources.flatMap((file) => {
    if (placeOf(file.path) === null) return [];
    return file.imports.flatMap(({ specifier, offset }) => {
      const says = specifier === null || specifier.startsWith('.') ? null : problemOf(file.path, specifier);
      return says === null ? [] : [{ path: file.path, line: lineOf(file, offset), says }];
    });
  });

function problemOf(path: string, specifier: string): string | null {
  const isBuiltin = specifier.startsWith('node:');
  const name = isBuiltin ? specifier : packageOf(specifier);
  const home = isBuiltin ? homeOfBuiltin(name) : PACKAGES[name];
  if (home === undefined) {
    return `${name} has no home; give it one in test/tidy/homes.ts, with a decision record, or do without it`;
  }
  const isBuiltinOfCli = isBuiltin && path.startsWith('src/cli/');
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
      ? ['src/cli/']
      : undefined)
  );
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
}
