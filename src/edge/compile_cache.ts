import { areSame } from '../caches/weak_memoize.ts';
import type { Linked } from '../engine/module.ts';
import type { LinkedPolicy } from './ip_policies.ts';
import type { TakeState } from './filter_state.ts';

/** What parts ask for while they are compiled. */
export interface CompileRequest {
  readonly takeState: TakeState;
  readonly ipPolicy: Linked['ipPolicy'];
  readonly authorityPem: (id: string) => string;
  readonly backend: Linked['backend'];
}

/**
 * What was compiled before, by the config it was compiled from: for whoever compiles one configuration after the
 * other, of which most parts are the same objects.
 */
export interface CompileCache {
  /**
   * What `compile` gives for a config. It is asked only when the config, its circumstances or what it asked the context
   * for is not what it was; else the part from before is given again, and keeps its state.
   */
  readonly part: <Compiled, Context extends CompileRequest>(
    config: object,
    circumstances: readonly unknown[],
    context: Context,
    compile: (context: Context) => Compiled,
  ) => Compiled;
  /** IP policies by their names. */
  readonly policies: Map<string, LinkedPolicy>;
  /** A value that all parts share, made again when its circumstances are not what they were. */
  readonly shared: <Value>(name: string, circumstances: readonly unknown[], make: () => Value) => Value;
}

/** A question to the context, and its answer then. */
interface Asked {
  readonly of: 'ipPolicy' | 'authorityPem' | 'backend';
  readonly id: string;
  readonly answer: unknown;
}

/** A state that was taken, and what it was taken for. */
interface Taken {
  readonly route: string;
  readonly module: string;
  readonly config: object;
  readonly state: unknown;
}

interface Part {
  readonly circumstances: readonly unknown[];
  readonly asked: readonly Asked[];
  readonly taken: readonly Taken[];
  readonly compiled: unknown;
}

interface Shared {
  readonly circumstances: readonly unknown[];
  readonly value: unknown;
}

export function compileCache(): CompileCache {
  const parts = new WeakMap<object, Part>();
  const shared = new Map<string, Shared>();
  return {
    policies: new Map(),
    part: (config, circumstances, context, compile) => {
      const before = parts.get(config);
      if (before !== undefined && holds(before, circumstances, context)) {
        for (const { route, module, config: of, state } of before.taken)
          context.takeState(route, module, of, () => state);
        return before.compiled as ReturnType<typeof compile>;
      }
      const { watched, asked, taken } = watching(context);
      const compiled = compile(watched);
      parts.set(config, { circumstances, asked, taken, compiled });
      return compiled;
    },
    shared: (name, circumstances, make) => {
      const before = shared.get(name);
      if (before !== undefined && areSame(before.circumstances, circumstances))
        return before.value as ReturnType<typeof make>;
      const value = make();
      shared.set(name, { circumstances, value });
      return value;
    },
  };
}

function holds({ circumstances, asked }: Part, now: readonly unknown[], context: CompileRequest): boolean {
  return areSame(circumstances, now) && asked.every(({ of, id, answer }) => context[of](id) === answer);
}

/** The context, and a list that grows with what is asked of it. */
function watching<Context extends CompileRequest>(
  context: Context,
): {
  readonly watched: Context;
  readonly asked: readonly Asked[];
  readonly taken: readonly Taken[];
} {
  const asked: Asked[] = [];
  const taken: Taken[] = [];
  const watched: Context = {
    ...context,
    ipPolicy: (id) => noted('ipPolicy', id, context.ipPolicy(id)),
    authorityPem: (id) => noted('authorityPem', id, context.authorityPem(id)),
    backend: (id) => noted('backend', id, context.backend(id)),
    takeState: (route, module, config, initial) => {
      const state = context.takeState(route, module, config, initial);
      taken.push({ route, module, config, state });
      return state;
    },
  };
  return { watched, asked, taken };

  function noted<Answer>(of: Asked['of'], id: string, answer: Answer): Answer {
    asked.push({ of, id, answer });
    return answer;
  }
}
