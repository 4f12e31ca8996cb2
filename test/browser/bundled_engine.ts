import { createContext, Script } from 'node:vm';
import { rolldown } from 'rolldown';
import type { decideCases } from '../../src/playground/engine.ts';
import { PAGE_SCRIPT } from '../../rolldown.pages.ts';

export interface Engine {
  readonly decideCases: typeof decideCases;
}

/** What browsers have of their own; nothing of Node. */
const GLOBALS = {
  AbortController,
  Headers,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  console,
  crypto,
  performance,
  queueMicrotask,
  setTimeout,
  structuredClone,
};

/** The engine of the playground as pages have it, in a context without Node, and its code. */
export async function bundledEngine(): Promise<{ readonly code: string; readonly engine: Engine }> {
  const build = await rolldown({ ...PAGE_SCRIPT, input: 'src/playground/engine.ts', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'iife', name: 'engine', codeSplitting: false });
  const [{ code }] = output;
  const context = createContext({ ...GLOBALS });
  new Script(code, { filename: 'engine.js' }).runInContext(context);
  return { code, engine: (context as unknown as { engine: Engine }).engine };
}
