import type { Socket } from 'node:net';
import { createSecureContext, createServer, type SecureContext, type TLSSocket } from 'node:tls';
import { noRenegotiation } from '../crypto/tls_options.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { TlsCertificate } from '../engine/connection.ts';
import { contain } from '../io/containment.ts';
import { parseSocketAddress } from '../net/address.ts';
import { type ListenProblem, listenOn } from '../server/bind.ts';
import type { StreamPlace } from '../server/stream_wiring.ts';
import type { Agents } from './agents.ts';
import { EARLY_LIMITS, EarlyConnections, peerKey } from './early_connections.ts';
import { type AgentsEdge, endpointUrl } from './endpoint_url.ts';

/** The listener that agents connect to. */
export interface AgentListener {
  readonly port: number;
  /** Accepts no more agents, and ends all sessions when the connections that they carry are `drained`. */
  readonly close: (drained: Promise<unknown>) => Promise<void>;
}

export interface AgentListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificateFor: (host: string) => Promise<TlsCertificate | null>;
  readonly say: (text: string) => void;
}

/** The edge that agents are part of, and where it listens. */
export interface AgentSurroundings {
  readonly edge: {
    readonly config: EdgeConfig;
    readonly pooled: ReadonlySet<string>;
    readonly extend: AgentsEdge['extend'];
    readonly settled: AgentsEdge['missingPorts'];
  };
  /** The port for requests without TLS. */
  readonly port: number;
  /** The local port for TLS or TCP; undefined if it is not open. */
  readonly portFor: (place: StreamPlace) => number | undefined;
}

const HANDSHAKE_MS = 10_000;
const MAX_CONNECTIONS = 2_000;
const MAX_CONTEXTS = 64;
/** How long agents may take to close their connections when the edge stops. */
const CLOSE_MS = 250;

/** Listens for agents by TLS, which they always speak, without ALPN. Returns a problem if the port cannot be opened. */
export async function listenForAgents(
  agents: Agents,
  { host, port, certificateFor, say }: AgentListenerOptions,
  surroundings: AgentSurroundings,
): Promise<AgentListener | ListenProblem> {
  attach(agents, surroundings);
  const sockets = new Set<Socket>();
  const contextFor = contexts(certificateFor);
  const first = await contextFor('').catch((error: unknown) => errorText(error));
  if (typeof first === 'string') return { problem: `no certificate for agents: ${first}` };
  const server = createServer({
    SNICallback: (name, done) => void chooseContext(contextFor(name), done),
    handshakeTimeout: HANDSHAKE_MS,
    noDelay: true,
    secureOptions: noRenegotiation(),
    ...first.options,
  });
  server.maxConnections = MAX_CONNECTIONS;
  const early = new EarlyConnections(EARLY_LIMITS);
  const makeRoom = (): void => early.makeRoom(sockets.size);
  server.on('drop', makeRoom);
  server.on('connection', (socket: Socket) => {
    makeRoom();
    const key = early.begin(socket);
    if (key === null) {
      socket.on('error', () => undefined).destroy();
      return;
    }
    sockets.add(contain(socket));
    socket
      .on('error', () => undefined)
      .once('close', () => {
        early.settled(key);
        sockets.delete(socket);
      });
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const [theirs, ours] = [socket.remoteAddress, socket.localAddress].map(
      (each) => parseSocketAddress(each ?? '')?.text ?? '',
    );
    const session = agents.accept(socket, theirs!, { ip: ours!, host: socket.servername || '' });
    session.onStarted = () => early.settled(peerKey(socket));
  });
  // The agent's user is only told that the handshake failed.
  server.on('tlsClientError', (error: Error, socket: TLSSocket) =>
    say(`the TLS handshake of an agent at ${socket.remoteAddress ?? '?'} failed: ${errorText(error)}`),
  );
  const bound = await listenOn(server, { host, port, strictPort: port !== 0 });
  if ('problem' in bound) return { problem: `the port for agents: ${bound.problem}` };
  return {
    port: bound.port,
    close: async (drained) => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      await drained;
      agents.close('the edge is shutting down');
      const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), CLOSE_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function chooseContext(
  context: Promise<SecureContext>,
  done: (error: Error | null, context?: SecureContext) => void,
): Promise<void> {
  let chosen: SecureContext;
  try {
    chosen = await context;
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  done(null, chosen);
}

function attach(agents: Agents, { edge, port: plain, portFor }: AgentSurroundings): void {
  const portOf = ({ proto, host, port }: Parameters<AgentsEdge['urlOf']>[0]): number => {
    // Nothing listens for an internal endpoint.
    if (isInternalHost(host)) return proto === 'http' ? 80 : port;
    if (proto === 'http') return plain;
    const place = proto === 'tcp' ? ({ kind: 'tcp', host } as const) : ({ kind: 'tls', host: '' } as const);
    return portFor({ ...place, port }) ?? port;
  };
  agents.endpoints.attach({
    base: () => edge.config,
    pooled: () => edge.pooled,
    extend: edge.extend,
    missingPorts: edge.settled,
    urlOf: (place) => endpointUrl(place, portOf(place)),
  });
}

/** Contexts for the names that agents ask for; the name is empty without one. Certificates may change. */
function contexts(certificateFor: AgentListenerOptions['certificateFor']) {
  const kept = new Map<string, SecureContext & { readonly options: object }>();
  return async (name: string) => {
    const certificate = await certificateFor(name);
    if (certificate === null) throw new Error(`there is no certificate for '${name}'`);
    const { certificatePem: cert, privateKeyPem: key } = certificate;
    const known = kept.get(cert);
    if (known !== undefined) return known;
    if (kept.size >= MAX_CONTEXTS) kept.delete(kept.keys().next().value!);
    const context = Object.assign(createSecureContext({ cert, key }), { options: { cert, key } });
    kept.set(cert, context);
    return context;
  };
}
