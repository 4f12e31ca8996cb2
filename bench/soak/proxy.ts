import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { UpstreamLimits } from '../../src/http1/upstream_client.ts';
import type { ListenerLimits } from '../../src/io/listener_limits.ts';

/** Settings of the proxy. */
export interface Order {
  /** `host:port`. */
  readonly upstream: string;
  readonly limits?: Partial<ListenerLimits>;
  readonly upstreamLimits?: Partial<UpstreamLimits>;
  readonly drainMs?: number;
}

/** What the proxy's process is asked for: its numbers, after a garbage collection or at once. */
export type Asked = 'after collecting' | 'now';

/** What the proxy's process reports. Bytes. */
export interface Stats {
  readonly heapUsed: number;
  readonly rss: number;
  readonly external: number;
  readonly descriptors: number;
  readonly events: number;
  /** Connections that were accepted from clients, and what was read from them. */
  readonly accepted: number;
  readonly bytesRead: number;
  /** `status reason` → how many events. */
  readonly byReason: Readonly<Record<string, number>>;
}

export interface ProxyProcess {
  readonly port: number;
  readonly pid: number;
  /** After a garbage collection. */
  stats(): Promise<Stats>;
  /** Asks again until the condition is true, or time is up; returns the last reply. Collects no garbage. */
  statsWhen(holds: (stats: Stats) => boolean, withinMs?: number): Promise<Stats>;
  /** SIGTERM: drains, and reports how many connections were closed by force, and the final counts. */
  drain(): Promise<{ readonly cut: number; readonly stats: Stats; readonly code: number | null }>;
  kill(): Promise<void>;
}

/** Starts it; `descriptors` limits its open descriptors. */
export async function startProxy(order: Order, descriptors?: number): Promise<ProxyProcess> {
  const script = join(import.meta.dirname, 'proxy_process.ts');
  const node = [process.execPath, '--expose-gc', script, JSON.stringify(order)];
  const child: ChildProcess =
    descriptors === undefined
      ? spawn(node[0]!, node.slice(1), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      : spawn('sh', ['-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...node], {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async (what: Asked): Promise<Stats> => {
    child.send(what);
    const [answer] = (await once(child, 'message')) as [{ stats: Stats }];
    return answer.stats;
  };
  return {
    port,
    pid: child.pid!,
    stats: () => ask('after collecting'),
    async statsWhen(holds, withinMs = 10_000) {
      for (const until = Date.now() + withinMs; ;) {
        const now = await ask('now');
        if (holds(now) || Date.now() > until) return now;
        await new Promise((resolve) => void setTimeout(resolve, 50));
      }
    },
    async drain() {
      const told = once(child, 'message') as Promise<[{ cut: number; stats: Stats }]>;
      child.kill('SIGTERM');
      const [[{ cut, stats: last }], [code]] = await Promise.all([told, ended]);
      return { cut, stats: last, code };
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
