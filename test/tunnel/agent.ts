import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { localAuthority, serverCertificate } from '../../src/cli/local_authority.ts';
import { newIds } from '../../src/events/identifiers.ts';
import { type EdgeOptions, type ListenOptions, createEdge } from '../../src/edgeproof.ts';
import { Agents, type AgentsOptions } from '../../src/tunnel/agents.ts';
import { folderWith } from '../folder.ts';

const { platform, arch } = process;
const LIBC =
  platform === 'linux'
    ? existsSync('/etc/alpine-release')
      ? '-musl'
      : '-gnu'
    : platform === 'win32'
      ? '-msvc'
      : '';
const BINARY = join(import.meta.dirname, '../../node_modules/@ngrok', `ngrok-${platform}-${arch}${LIBC}`);

/** Why the published SDK cannot run here; null if it can. */
export const NO_SDK = existsSync(BINARY) ? null : `@ngrok/ngrok has no binary for ${platform} ${arch}`;

/** A process with the published SDK. */
export interface AgentProcess {
  readonly child: ChildProcess;
  /** Runs the body of an async function there, with `ngrok`, an object `kept` between calls, and `value`. */
  readonly run: (code: string, value?: unknown) => Promise<unknown>;
}

interface Message {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
  readonly errorCode?: string | null;
}

class AgentError extends Error {
  readonly errorCode: string | null;
  constructor(message: string, errorCode: string | null) {
    super(message);
    this.errorCode = errorCode;
  }
}

export function agentProcess(): AgentProcess {
  const child = fork(join(import.meta.dirname, 'agent_program.mjs'), { execArgv: [], silent: true });
  const waiting = new Map<number, (message: Message) => void>();
  child.setMaxListeners(0);
  let last = 0;
  child.on('message', (message: Message) => waiting.get(message.id)?.(message));
  child.stderr?.resume();
  child.stdout?.resume();
  return {
    child,
    run: async (code, value = null) => {
      const id = ++last;
      const answered = new Promise<Message>((resolve, reject) => {
        waiting.set(id, resolve);
        child.once('exit', () => reject(new Error('the agent has exited')));
      });
      child.send({ id, code, value });
      const { answer, error, errorCode = null } = await answered;
      if (error !== undefined) throw new AgentError(error, errorCode);
      return answer;
    },
  };
}

/** An edge with a port for agents. */
export async function edgeWithAgents(
  config: object = {},
  options: Partial<AgentsOptions> = {},
  edgeOptions: EdgeOptions = {},
  listenOptions: ListenOptions = {},
) {
  const authority = await localAuthority(folderWith());
  const newId = newIds(Date.now);
  const agents = new Agents({
    nowMs: Date.now,
    newId,
    admit: async () => ({ credential: null, acl: [] }),
    ...options,
  });
  const edge = createEdge({ service_name: 'ngrok', edges: {}, ...config }, { ...edgeOptions, agents });
  const certificateFor = async (host: string) => serverCertificate(authority, host);
  const listening = await edge.listen({
    tls: { certificateFor },
    tcp: {},
    agents: { port: 0, certificateFor },
    ...listenOptions,
  });
  onTestFinished(async () => void (await listening.close(0)));
  const session = { server_addr: `localhost:${listening.agentsPort}`, root_cas: authority.file };
  return { agents, edge, listening, authority, session };
}
