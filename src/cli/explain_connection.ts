import { clientCertificateOf } from '../crypto/client_certificate.ts';
import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import { type RuleWatch, valuesText } from '../edge/explained_rules.ts';
import type { EdgeOfFile } from '../edgeproof.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { SimulatedAgents } from '../simulator/agents.ts';
import { prepareConnection } from '../simulator/document/connections.ts';
import { connectTo } from '../simulator/run_connect.ts';
import { scriptedUpstreams } from '../simulator/upstreams.ts';
import { lineAboutUnmatched } from './near_names.ts';
import { hintLine, unknownHostHint } from '../project_files/unknown_host.ts';
import { FileError, readBytes } from '../project_files/load_config.ts';
import { outputLook } from './terminal.ts';

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
  readonly verbose?: boolean;
  /** Null for none. */
  readonly agents: SimulatedAgents | null;
  /** What the edge was compiled with. */
  readonly rules: RuleWatch;
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
  const reasons = options.rules.of(outcome.exchange.connection);
  const explanation = reasons.withReasons(explanationOf(outcome.exchange, locate));
  const event = outcome.event();
  const hint = unknownHostHint(explanation, 'option');
  if (options.json === true) {
    return JSON.stringify(
      { ...explanation, ...(hint !== null && { hint }), ...(options.event === true && { event }) },
      null,
      2,
    );
  }
  const unmatched = lineAboutUnmatched(explanation.decidedBy.code, to, edge.config);
  const values = options.verbose === true ? valuesText(reasons.values()) : '';
  const further = [unmatched, hintLine(hint), values].map((each) => each && `\n${each.trimEnd()}`).join('');
  const text = `${renderExplanation(explanation, outputLook())}${further}`;
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
