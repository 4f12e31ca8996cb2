import type { Exchange } from '../engine/exchange.ts';
import { requireFirst } from '../loading/lazy_load.ts';
import { type ScriptedClients, type ScriptedUpstream, runScripted } from '../engine/drivers/scripted.ts';

/** Replacements for the network, if provided. */
export interface HandleOptions {
  readonly upstream?: ScriptedUpstream;
  readonly clients?: ScriptedClients;
  /** State that this process shares with others. */
  readonly shared?: { readonly ask: NonNullable<ScriptedClients['shared']> };
}

/** Runs an exchange to its end with the replacements, or the network. */
export async function answered(
  exchange: Exchange,
  request: Request,
  options: HandleOptions,
): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer());
  const upstream = options.upstream ?? (await network());
  const clients = options.clients ?? (await clientsBeside(options.upstream));
  const { shared } = options;
  return runScripted(
    exchange,
    body,
    upstream,
    shared === undefined ? clients : { ...clients, shared: shared.ask },
  );
}

/** The clients of `handle`. With an upstream of the caller there is no network; signatures are still verified. */
async function clientsBeside(upstream: ScriptedUpstream | undefined): Promise<ScriptedClients> {
  const { networkClients } = await import('../clients/network.ts');
  const clients = networkClients();
  return upstream === undefined ? clients : { verify: clients.verify };
}

/** Loaded only if the caller provides no upstream. */
async function network(): Promise<ScriptedUpstream> {
  requireFirst('undici');
  return (await import('../clients/fetched_upstream.ts')).fetchUpstream;
}
