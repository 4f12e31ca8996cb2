import { areSame } from '../caches/weak_memoize.ts';
import type { Steps } from '../config_file/steps.ts';
import type { Linked } from '../engine/module.ts';
import type { BackendTree } from './backends.ts';
import type { ipPolicyTable } from './ip_policies.ts';
import type { TakeState } from './filter_state.ts';

/** What parts may ask for while they are compiled. */
export interface CompileRequest {
  /** The same object as long as all answers are the same; null if what is asked is being noted. */
  readonly answers: object | null;
  readonly takeState: TakeState;
  readonly ipPolicy: Linked['ipPolicy'];
  readonly authorityPem: (id: string) => string;
  readonly backend: (id: string) => BackendTree;
}

/** Compiled parts by their config, for successive configurations that share most objects. */
export interface CompileCache {
  /**
   * The result of `compile` for a config. It is called only when the config, its circumstances or a value that it asked
   * the context for have changed; otherwise the previous part is returned, with its state.
   */
  readonly part: <Compiled, Context extends CompileRequest>(
    config: object,
    circumstances: readonly unknown[],
    context: Context,
    compile: (context: Context) => Compiled,
  ) => Compiled;
  /** As `part`, with what it has asked for and the states that it has taken. */
  readonly tracked: <Compiled, Context extends CompileRequest>(
    config: object,
    circumstances: readonly unknown[],
    context: Context,
    compile: (context: Context) => Compiled,
  ) => Tracked<Compiled>;
  /** Compiles a part with pauses, for the next `part` with the same config and circumstances. */
  readonly ahead: <Compiled, Context extends CompileRequest>(
    config: object,
    circumstances: readonly unknown[],
    context: Context,
    compile: (context: Context) => Steps<Compiled>,
  ) => Steps<void>;
  /** The same parts; those that are compiled with it are not remembered. */
  readonly trial: () => CompileCache;
  /** Lists of rules by the names of their IP policies. */
  readonly policies: Parameters<typeof ipPolicyTable>[1];
  /** A value that all parts share; it is created again when its circumstances have changed. */
  readonly shared: <Value>(name: string, circumstances: readonly unknown[], make: () => Value) => Value;
}

/** A question to the context, and its answer at the time. */
export interface Asked {
  readonly of: 'ipPolicy' | 'authorityPem' | 'backend';
  readonly id: string;
  readonly answer: unknown;
}

/** A state that was taken, and its purpose. */
export interface TakenState {
  readonly route: string;
  readonly module: string;
  readonly config: object;
  readonly state: unknown;
}

/** A compiled part, with what it depends on. */
interface Tracked<Compiled> {
  readonly asked: readonly Asked[];
  readonly taken: readonly TakenState[];
  readonly compiled: Compiled;
}

interface Part extends Tracked<unknown> {
  readonly circumstances: readonly unknown[];
  /** The answers with which it was found valid last. */
  answers: object | null;
}

interface Shared {
  readonly circumstances: readonly unknown[];
  readonly value: unknown;
}

export function compileCache(): CompileCache {
  const parts = new WeakMap<object, Part>();
  const shared = new Map<string, Shared>();
  const common: Pick<CompileCache, 'policies' | 'shared'> = {
    policies: new Map(),
    shared: (name, circumstances, make) => {
      const before = shared.get(name);
      if (before !== undefined && areSame(before.circumstances, circumstances))
        return before.value as ReturnType<typeof make>;
      const value = make();
      shared.set(name, { circumstances, value });
      return value;
    },
  };
  const cacheOf = (keep: (config: object, part: Part) => void): CompileCache => {
    const tracked: CompileCache['tracked'] = (config, circumstances, context, compile) => {
      type Compiled = ReturnType<typeof compile>;
      const before = parts.get(config);
      if (before !== undefined && holds(before, circumstances, context)) {
        for (const { route, module, config: of, state } of before.taken)
          context.takeState(route, module, of, () => state);
        return before as Tracked<Compiled>;
      }
      const { watched, asked, taken } = watching(context);
      const compiled = compile(watched);
      const part = { circumstances, asked, taken, compiled, answers: context.answers };
      keep(config, part);
      return part;
    };
    return {
      ...common,
      tracked,
      part: (config, circumstances, context, compile) =>
        tracked(config, circumstances, context, compile).compiled,
      ahead: function* (config, circumstances, context, compile) {
        const before = parts.get(config);
        if (before !== undefined && holds(before, circumstances, context)) return;
        const { watched, asked, taken } = watching(context);
        const compiled = yield* compile(watched);
        parts.set(config, { circumstances, asked, taken, compiled, answers: context.answers });
      },
      trial: () => cacheOf(() => undefined),
    };
  };
  return cacheOf((config, part) => void parts.set(config, part));
}

function holds(part: Part, now: readonly unknown[], context: CompileRequest): boolean {
  if (!areSame(part.circumstances, now)) return false;
  if (context.answers !== null && part.answers === context.answers) return true;
  if (!part.asked.every(({ of, id, answer }) => context[of](id) === answer)) return false;
  part.answers = context.answers;
  return true;
}

/** The context, and a list of what was asked of it. */
function watching<Context extends CompileRequest>(
  context: Context,
): {
  readonly watched: Context;
  readonly asked: readonly Asked[];
  readonly taken: readonly TakenState[];
} {
  const asked: Asked[] = [];
  const taken: TakenState[] = [];
  const watched: Context = {
    ...context,
    // A part within another one asks again, so that the other one knows what it depends on.
    answers: null,
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
