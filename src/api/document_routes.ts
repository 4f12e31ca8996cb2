import type { Hono } from 'hono';
import type { Asking, Caller, Wiring } from './contract.ts';
import type { Route } from './routes.ts';

/** Admits a request, or throws the refusal. */
export type Admit = (request: Request, caller: Caller) => Promise<Asking>;

/** Routes that are not of the specification. */
export function documentRoutes(
  _app: Hono<{ Bindings: Caller; Variables: { operation: string } }>,
  _wiring: Wiring,
  _routes: readonly Route[],
  _admit: Admit,
): void {}
