import { HOST } from './everything_on.ts';
import type { Workload } from './workloads.ts';

const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Build/1001';

export type Headers = Readonly<Record<string, string>>;

/** Headers of the load, like a browser's; used for measurement and verification. */
export function headersFor({ gzip, bodyBytes }: Pick<Workload, 'gzip' | 'bodyBytes'>): Headers {
  return {
    Host: HOST,
    'User-Agent': AGENT,
    Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'Accept-Language': 'en-US,en;q=0.5',
    Cookie: 'session=0123456789abcdef; theme=dark',
    ...(gzip && { 'Accept-Encoding': 'gzip' }),
    ...(bodyBytes > 0 && { 'Content-Type': 'application/octet-stream' }),
  };
}

/** Content of a POST. */
export const contentOf = (bytes: number): Buffer => Buffer.alloc(bytes, 'x');

/** Number of different user agents, and of client addresses, if they vary. */
export const AGENTS = 2_000;
export const ADDRESSES = 1_000;
