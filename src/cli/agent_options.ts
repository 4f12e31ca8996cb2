import { join } from 'node:path';
import type { Command } from 'commander';
import { equalTexts } from '../crypto/digest.ts';
import { newIds } from '../events/identifiers.ts';
import type { TlsCertificate } from '../engine/connection.ts';
import type { Agents } from '../tunnel/agents.ts';
import type { ListenOptions, Listening } from '../edgeproof.ts';
import { dataFolder, localCertificates } from './local_authority.ts';
import { readPort } from './option_values.ts';

/** Port for agents when none is given. */
const AGENTS_PORT = 4443;

export interface AgentVerbOptions {
  /** True for the default port. */
  readonly agents?: number | true;
  /** The token that agents need where there are no credentials; absent: any will do. */
  readonly authtoken?: string;
}

/** Adds the option. */
export function agentsOption(command: Command): Command {
  return command.option(
    '--agents [port]',
    `also listen for agents, whose tunnels become endpoints and backends; default port ${AGENTS_PORT}`,
    readPort,
  );
}

/** The listener for agents: their certificate is that of an agent ingress, or one of the local authority. */
export function agentListening(
  { agents }: AgentVerbOptions,
  ingress: (host: string) => Promise<TlsCertificate | null> = async () => null,
): Pick<ListenOptions, 'agents'> {
  if (agents === undefined) return {};
  const local = localCertificates(dataFolder(process.env, process.platform));
  const certificateFor = async (host: string) => (await ingress(host)) ?? local(host);
  return { agents: { port: agents === true ? AGENTS_PORT : agents, certificateFor } };
}

/** Lines to paste into programs and configuration files of agents. */
export function aboutAgents({ agentsPort, host }: Listening, authtoken: string): string[] {
  if (agentsPort === null) return [];
  const address = `${host === '127.0.0.1' || host === '::1' ? 'localhost' : host}:${agentsPort}`;
  const root = join(dataFolder(process.env, process.platform), 'authority.pem');
  return [
    `agents connect to ${address} and trust ${root}:`,
    `  Node    await ngrok.forward({ addr: 3000, authtoken: '${authtoken}', server_addr: '${address}', root_cas: '${root}' })`,
    `  Python  ngrok.forward(3000, authtoken='${authtoken}', server_addr='${address}', root_cas='${root}')`,
    `  Go      ngrok.WithServer("${address}"), ngrok.WithCA(pool)   // pool: a x509.CertPool with that file`,
    `  Rust    .server_addr("${address}")?.ca_cert(std::fs::read("${root}")?.into())`,
    `  agent   server_addr: ${address}, root_cas: ${root}   in its configuration file (version 2)`,
  ];
}

/** Agents without an account: they need the token that was given, if any. */
export async function localAgents(
  { authtoken }: AgentVerbOptions,
  say: (text: string) => void,
): Promise<Agents> {
  const { Agents: AllAgents } = await import('../tunnel/agents.ts');
  return new AllAgents({
    nowMs: Date.now,
    newId: newIds(Date.now),
    admit: async (token) =>
      authtoken === undefined || equalTexts(token, authtoken)
        ? { credential: null, acl: [] }
        : { number: 107, message: 'This is not the authtoken that the edge was started with.' },
    onSession: ({ type, address, facts, error }) => {
      const started = error === '' ? 'connected' : 'was refused';
      const what = type === 'start' ? started : 'left';
      say(`agent ${facts.userAgent} at ${address} ${what}${error === '' ? '' : `: ${error}`}`);
    },
  });
}
