import { placeOf } from './rooms.ts';
import { globalUses } from './scopes.ts';
import type { GlobalUse } from './scopes.ts';
import { lineOf } from './tree.ts';
import type { Rule } from './tree.ts';

/** Rooms that decide: the same input has to give the same output, today and in a replay. */
const PURE: ReadonlySet<string> = new Set(
  `datetime config_file facts http net regex diagnostics cel policy/env filters filters/* filters/actions.ts
   filters/modules.ts faces schemas auth webhooks engine policy edge edge/document analysis`.split(/\s+/),
);

const INSTEAD: Readonly<Record<string, string>> = {
  Date: 'take `nowMs: number`, or `World.nowMs()`, as an argument',
  'Math.random': 'take `random: number`, or `World.random()`, as an argument',
  setTimeout: 'ask the driver: a deadline is a question or an argument',
  setInterval: 'compute from `nowMs` what is due when asked',
  setImmediate: 'decide synchronously',
  queueMicrotask: 'decide synchronously',
  fetch: 'ask the driver a question; clients/ talks to the network',
  console: 'return what there is to say; cli/ prints',
  process: 'take what is needed as an argument; cli/ reads the environment',
  performance: 'take `nowMs` as an argument; bench/ measures',
  crypto: 'import src/crypto, or take chance as an argument',
  globalThis: 'name the global that you mean, so that this rule can see it',
};

/** Rooms that run on the injected clock. A time that is given may still be written as a date. */
const CLOCKED: ReadonlySet<string> = new Set(['server', 'http1', 'http2', 'io', 'engine/drivers']);

/** No clock of the system where an injected one is at hand; deadlines are timers, or `performance.now()`. */
export const liveRoomsUseTheInjectedClock: Rule = (tree) =>
  tree.sources.flatMap((file) => {
    if (!CLOCKED.has(placeOf(file.path)?.room ?? '')) return [];
    return globalUses(file.program)
      .filter(({ name, parent }) => name === 'Date' && !isConversion(parent))
      .map(({ node }) => ({
        path: file.path,
        line: lineOf(file, node.start),
        message: 'the clock of the system; take `nowMs`, which the composition root gives',
      }));
  });

function isConversion({ type, ...node }: GlobalUse['parent']): boolean {
  return type === 'NewExpression' && Array.isArray(node['arguments']) && node['arguments'].length > 0;
}

/** Uses that are pure after all: file, global, reason. */
// table: what is allowed, and why
const ALLOWED: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

/** The rules about the outside world, with their exceptions. */
export function worldRules(allowed: Readonly<Record<string, Readonly<Record<string, string>>>> = ALLOWED) {
  /** No clock, chance, timer, network or console in rooms that decide. */
  const pureRoomsUseNoWorld: Rule = (tree) =>
    tree.sources.flatMap((file) => {
      const place = placeOf(file.path);
      if (place === null || !PURE.has(place.room)) return [];
      return globalUses(file.program).flatMap((use) => {
        const name = forbidden(use);
        if (name === null || allowed[file.path]?.[name] !== undefined) return [];
        const message = `${name} is the outside world, which ${place.room} may not touch; ${INSTEAD[name]}`;
        return [{ path: file.path, line: lineOf(file, use.node.start), message }];
      });
    });

  /** Every exception is needed: one that nothing uses any more has to go. */
  const exceptionsAreUsed: Rule = (tree) =>
    Object.entries(allowed).flatMap(([path, names]) => {
      const file = tree.sources.find((source) => source.path === path);
      const used = new Set(file === undefined ? [] : globalUses(file.program).map(forbidden));
      return Object.keys(names)
        .filter((name) => !used.has(name))
        .map((name) => ({
          path,
          line: 1,
          message: `${name} is allowed here but not used; remove it from test/tidy/globals.ts`,
        }));
    });

  return { pureRoomsUseNoWorld, exceptionsAreUsed };
}

function forbidden(use: GlobalUse): string | null {
  const { name } = use;
  // Arithmetic, without a clock or a time zone.
  if (name === 'Date' && memberOf(use) === 'UTC') return null;
  if (isChance(use)) return 'Math.random';
  return Object.hasOwn(INSTEAD, name) ? name : null;
}

/** Whether it is `Math.random`, or may be: anything but `Math.name` could reach it unseen. */
export function isChance(use: GlobalUse): boolean {
  return use.name === 'Math' && ['random', null].includes(memberOf(use));
}

/** The name in `global.name`; null for any other use. */
function memberOf({ node, parent }: GlobalUse): string | null {
  const isMember = parent.type === 'MemberExpression' && parent['object'] === node;
  if (!isMember || parent['computed'] === true) return null;
  return (parent['property'] as { name?: string }).name ?? null;
}

/** Nowhere is code made from text. */
export const codeIsNotMadeFromText: Rule = (tree) =>
  tree.sources.flatMap((file) =>
    globalUses(file.program)
      .filter(({ name }) => name === 'eval' || name === 'Function')
      .map(({ name, node }) => {
        const message = `${name} makes code from text; use closures, and a parser where there is a language`;
        return { path: file.path, line: lineOf(file, node.start), message };
      }),
  );
