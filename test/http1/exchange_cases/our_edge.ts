import { type Listening, createEdge } from '../../../src/edgeproof.ts';
import { type ExchangeCase, H } from './case.ts';
import { judge } from './judge.ts';
import { type Played, play } from './play.ts';
import { type Recorded, recordingUpstream } from './recording_upstream.ts';
import { type Send, sender, type Split } from './sending.ts';

/** The result of a case with our edge. */
export interface Outcome {
  readonly played: Played;
  readonly recorded: Recorded;
  /** Status and reason of each event, in order, without that of the proof request. */
  readonly events: readonly (readonly [number, string])[];
  /** Differences from the case. */
  readonly says: readonly string[];
}

const PATIENCE_MS = 4_000;
const DRAIN_MS = 1_000;

/** Plays a case against a new edge on its own port. */
export async function playOurs(one: ExchangeCase, split: Split, seed = 1): Promise<Outcome> {
  const send: Send = sender(split, seed);
  const upstream = await recordingUpstream(one.upstream ?? undefined, send);
  if (one.upstream === null) await upstream.close();
  const events: [number, string][] = [];
  const edge = createEdge(configuration(upstream.port, one), {
    onEvent: ({ object }, explain) => {
      events.push([object.http.response.status_code, explain().decidedBy.code]);
    },
  });
  const listening: Listening = await edge.listen({
    ...(one.limits !== undefined && { limits: one.limits }),
    ...(one.upstreamLimits !== undefined && { upstreamLimits: one.upstreamLimits }),
  });
  const played = await play(one, listening.port, upstream, send, PATIENCE_MS);
  await listening.close(DRAIN_MS);
  const recorded = upstream.recorded();
  if (one.upstream !== null) await upstream.close();
  const proofs = one.after === 'open' && one.upstream !== null ? 1 : 0;
  const own = proofs === 0 ? events : events.slice(0, -1);
  const message = judge(one, played, recorded);
  if (JSON.stringify(own) !== JSON.stringify(one.events)) {
    message.push(`events ${JSON.stringify(own)}, not ${JSON.stringify(one.events)}`);
  }
  return { played, recorded, events: own, says: message };
}

function configuration(port: number, { underscores }: ExchangeCase): object {
  const [, host] = /^Host: (\S+)/.exec(H)!;
  return {
    ...(underscores !== undefined && { underscore_headers: underscores }),
    backends: { app: { static: { address: `127.0.0.1:${port}` } } },
    edges: {
      https: {
        site: {
          hostports: [`${host}:443`],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
        },
      },
    },
  };
}
