import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { contain } from '../io/containment.ts';
import { acceptedFacts } from './accept.ts';
import { type SocketListener, socketListener } from './listener.ts';
import { connectionOf } from '../engine/drivers/engine_exchange_port.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';
import { preread } from './preread.ts';
import type { AcceptOptions } from './tcp_listener.ts';
import { type StreamClients, driveStream } from './tcp_driver.ts';
import { passedTlsFacts, tlsFactsOf } from './tls_facts.ts';
import { readClientHello } from './tls_hello.ts';
import type { TlsCertificate, TlsProfile } from '../engine/connection.ts';
import type { StreamWiring } from './stream_wiring.ts';
import { refuseHello } from './tls_refusal.ts';
import type { TlsServers } from './tls_servers.ts';

/**
 * Listens for TLS at one port. The server name in the ClientHello decides which edge a connection is for, and
 * so where TLS is terminated, with which settings, and whether a client certificate is required.
 */
export function tlsListener(
  port: number,
  wiring: StreamWiring,
  clients: StreamClients,
  servers: TlsServers,
  { proxyProtocol }: AcceptOptions,
): SocketListener {
  const { handshakeMs, helloBytes } = clients.limits;
  return socketListener(async (socket: Socket) => {
    const place = { host: '', port };
    const facts = await acceptedFacts(socket, place, wiring.nowMs(), { proxyProtocol, handshakeMs });
    if (facts === null) {
      socket.destroy();
      return;
    }
    const limits = { ms: handshakeMs, bytes: helloBytes };
    const hello = await preread(socket, limits, readClientHello, () => 0);
    if ('problem' in hello) {
      refuseHello(socket, 'decode_error');
      await lingered(socket);
      return;
    }
    const named = { ...facts, serverName: hello.serverName };
    const profile = wiring.profileFor(hello.serverName, port);
    if (profile === null) await refused(socket, named, port, wiring, clients);
    else if (profile.terminates) await terminated(socket, named, profile, { port, wiring, clients, servers });
    else {
      const passed = { ...named, tls: passedTlsFacts(profile) };
      await serveTlsEdge(socket, passed, { port, wiring, clients, servers });
    }
  });
}

interface Setting {
  readonly port: number;
  readonly wiring: StreamWiring;
  readonly clients: StreamClients;
  readonly servers: TlsServers;
}

/** There is no edge for the name: the client gets an alert (RFC 6066 §3), and an event is made. */
async function refused(
  socket: Socket,
  facts: ConnectionFacts,
  port: number,
  wiring: StreamWiring,
  clients: StreamClients,
): Promise<void> {
  const place = { kind: 'tls', host: facts.serverName, port } as const;
  const exchange = wiring.begin(connectionOf(facts), place);
  refuseHello(socket, 'unrecognized_name');
  await driveStream(socket, exchange, clients, lingered);
  wiring.finished(exchange);
}

async function terminated(
  socket: Socket,
  facts: ConnectionFacts,
  profile: TlsProfile,
  setting: Setting,
): Promise<void> {
  const { wiring, servers, port } = setting;
  const configured = wiring.certificateFor(facts.serverName);
  const certificate = configured ?? (await wiring.otherCertificateFor(facts.serverName));
  if (certificate === null) {
    refuseHello(socket, 'unrecognized_name');
    await lingered(socket);
    return;
  }
  const isCurrent = (): boolean =>
    isSameProfile(wiring.profileFor(facts.serverName, port), profile) &&
    isSameCertificate(wiring.certificateFor(facts.serverName), configured);
  const secured = await servers.secure(socket, { profile, certificate, isCurrent });
  if ('problem' in secured) {
    wiring.say(`a TLS handshake for ${facts.serverName || 'no name'} failed: ${secured.problem}`);
    if (profile.kind === 'tls') {
      const place = { kind: 'tls', host: facts.serverName, port } as const;
      const exchange = wiring.begin(connectionOf(facts), place, secured.problem);
      await driveStream(socket, exchange, setting.clients, lingered);
      wiring.finished(exchange);
    } else await lingered(socket);
    return;
  }
  const session = contain(secured.socket);
  if (session.destroyed) return lingered(socket); // the negotiated parameters are no longer available
  const withTls = { ...facts, tls: tlsFactsOf(session, profile) };
  if (profile.kind === 'tls') return serveTlsEdge(session, withTls, setting, ended);
  // A TLS edge passes the end of one direction on; for HTTP it means that the client has left.
  session.allowHalfOpen = false;
  wiring.http(session, withTls);
  await closed(session);
}

function isSameProfile(one: TlsProfile | null, other: TlsProfile): boolean {
  return (
    one?.edge === other.edge &&
    one.kind === other.kind &&
    one.terminates &&
    one.minVersion === other.minVersion &&
    one.authorities === null
  );
}

function isSameCertificate(one: TlsCertificate | null, other: TlsCertificate | null): boolean {
  return one?.certificatePem === other?.certificatePem && one?.privateKeyPem === other?.privateKeyPem;
}

async function serveTlsEdge(
  client: Duplex,
  facts: ConnectionFacts,
  { port, wiring, clients }: Setting,
  close?: (client: Duplex) => Promise<void>,
): Promise<void> {
  const place = { kind: 'tls', host: facts.serverName, port } as const;
  const exchange = wiring.begin(connectionOf(facts), place);
  await driveStream(client, exchange, clients, close);
  wiring.finished(exchange);
}

/** How long a refused client may take to close its connection. */
const LINGER_MS = 2_000;

/** Ends a session with close_notify (RFC 8446 §6.1), after all written data. */
async function ended(stream: Duplex): Promise<void> {
  const timer = setTimeout(() => stream.destroy(), LINGER_MS);
  stream.end(() => stream.destroy());
  await closed(stream);
  clearTimeout(timer);
}

async function lingered(stream: Duplex): Promise<void> {
  const timer = setTimeout(() => stream.destroy(), LINGER_MS);
  await closed(stream);
  clearTimeout(timer);
}

async function closed(stream: Duplex): Promise<void> {
  if (!stream.closed) await new Promise<void>((resolve) => void stream.once('close', resolve));
}
