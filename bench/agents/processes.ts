import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What an edge process serves. */
export interface EdgeOrder {
  readonly config: object;
  /** Host and port of its TCP edge. */
  readonly tcp: string;
  /** Where its authority is kept. */
  readonly folder: string;
}

/** Its first message. */
export interface EdgePorts {
  readonly plain: number;
  readonly tcp: number;
  readonly agents: number;
  /** Its authority, PEM. */
  readonly ca: string;
}

/** The processor time of a process and all its threads so far; asked for with `{ what: 'cpu' }`. */
export interface CpuStats {
  readonly cpuMs: number;
}

/** What an edge process says of itself after a garbage collection; asked for with `{ what: 'stats' }`. */
export interface EdgeStats extends CpuStats {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly descriptors: number;
  readonly sessions: number;
  readonly tunnels: number;
  readonly faults: number;
}

/** A script of this folder in a process of its own, driven by messages. */
export interface Helper<First> {
  readonly child: ChildProcess;
  readonly first: First;
  /** Sends a message and settles with the next answer. */
  readonly ask: <Answer>(message: object) => Promise<Answer>;
  readonly stop: () => Promise<void>;
}

/** Starts a script and waits for its first message. Throws if it ends before. */
export async function helper<First>(
  script: string,
  order: object,
  execArgv: readonly string[] = [],
): Promise<Helper<First>> {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(order)], { execArgv: [...execArgv] });
  const ended = once(child, 'exit');
  const next = async (): Promise<unknown> => {
    const answer = await Promise.race([once(child, 'message'), ended.then(() => null)]);
    if (answer === null) throw new Error(`${script} has ended`);
    return (answer as unknown[])[0];
  };
  return {
    child,
    first: (await next()) as First,
    ask: <Answer>(message: object) => {
      const answered = next();
      child.send(message);
      return answered as Promise<Answer>;
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** Agents that an agent process starts. */
export interface AgentOrder {
  readonly kind: 'wire' | 'sdk';
  readonly port: number;
  readonly ca: string;
  readonly caFile: string;
  readonly sessions: number;
  /** Of the tunnel that each session has; null: it has none. */
  readonly labels: Readonly<Record<string, string>> | null;
}

/** The first message of an agent process: the port of its TLS server. */
export interface FarEnd {
  readonly bare: number;
}
