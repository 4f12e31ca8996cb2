import type { Exchange } from '../engine/exchange.ts';
import { requireFirst } from '../loading/lazy_load.ts';
import { type ScriptedClients, type ScriptedUpstream, runScripted } from '../engine/drivers/scripted.ts';

/** What answers in place of the network, where it was handed in. */
export interface HandleOptions {
  readonly upstream?: ScriptedUpstream;
  readonly clients?: ScriptedClients;
}

/** Runs an exchange to its end with what was handed in, or the network. */
export async function answered(
  exchange: Exchange,
  request: Request,
  options: HandleOptions,
): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer());
  const upstream = options.upstream ?? (await network());
  const clients = options.clients ?? (await clientsBeside(options.upstream));
  return runScripted(exchange, body, upstream, clients);
}

/** What `handle` asks the world with. With an upstream of the caller there is no network; signatures are still verified. */
async function clientsBeside(upstream: ScriptedUpstream | undefined): Promise<ScriptedClients> {
  const { networkClients } = await import('../clients/network.ts');
  const clients = networkClients();
  return upstream === undefined ? clients : { verify: clients.verify };
}

/** Loaded only by those who hand in no upstream of their own. */
async function network(): Promise<ScriptedUpstream> {
  requireFirst('undici');
  return (await import('../clients/fetched_upstream.ts')).fetchUpstream;
}
