import { clientCertificateOf } from '../crypto/client_certificate.ts';
import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import type { EdgeOfFile } from '../edgeproof.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { SimulatedAgents } from '../simulator/agents.ts';
import { prepareConnection } from '../simulator/document/connections.ts';
import { connectTo } from '../simulator/run_connect.ts';
import { scriptedUpstreams } from '../simulator/upstreams.ts';
import { FileError, readBytes } from '../project_files/load_config.ts';

/** The connection that the command line describes. */
export interface ConnectOptions {
  /** `1.tcp.test:5432`, optionally with `tls://` before it. */
  readonly connect: string;
  readonly ip?: string;
  readonly sni?: string;
  /** File with the certificate that the client presents. */
  readonly clientCert?: string;
  readonly json?: boolean;
  readonly event?: boolean;
  /** Null for none. */
  readonly agents: SimulatedAgents | null;
}

/** Explains a connection to a TLS or TCP edge; its backends accept it. Throws FileError. */
export function explainConnection(edge: EdgeOfFile, locate: Locate, options: ConnectOptions): string {
  const { connect: to, ip, sni, clientCert } = options;
  const tls = { clientCertificate: clientCert === undefined ? null : certificateIn(clientCert) };
  const config = { to, ...(ip !== undefined && { ip }), ...(sni !== undefined && { server_name: sni }) };
  const { world } = edge.runtime;
  const prepared = prepareConnection(config, '', edge.runtime.current().config, {
    defaults: {},
    host: '',
    tls,
    startMs: world.nowMs(),
    signer: null,
    report: (_code, _pointer, message) => {
      throw new FileError(message);
    },
  });
  if (prepared === null) throw new FileError(`'${to}' is not a host and a port`);
  const chance = seededChance(1);
  const { agents } = options;
  const nobody = (): SimulatedAgents =>
    new SimulatedAgents(chance, { config: edge.config, extend: () => undefined });
  const peers = { upstreams: scriptedUpstreams(chance), agents: agents ?? nobody() };
  const outcome = connectTo(edge.runtime.current(), prepared, world, peers);
  const explanation = explanationOf(outcome.exchange, locate);
  const event = outcome.event();
  if (options.json === true) {
    return JSON.stringify(options.event === true ? { ...explanation, event } : explanation, null, 2);
  }
  const text = renderExplanation(explanation);
  return options.event === true ? `${text}\n${JSON.stringify(event, null, 2)}` : text;
}

function certificateIn(file: string): ReturnType<typeof clientCertificateOf> {
  const bytes = readBytes(file);
  try {
    return clientCertificateOf(bytes);
  } catch (error) {
    throw new FileError(
      `cannot read a certificate in ${file}: ${error instanceof Error ? error.message : ''}`,
    );
  }
}
