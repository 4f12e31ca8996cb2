/** What a contestant supports besides HTTP/1.1 without TLS. */
export type Ability = 'tls' | 'http2' | 'everything';

/** One kind of load. */
export interface Workload {
  /** As in `--workload`. */
  readonly id: string;
  readonly name: string;
  readonly path: '/1k' | '/100k' | '/1m' | '/1g' | '/post' | '/unbuffered/post';
  readonly bodyBytes: number;
  readonly needs: readonly Ability[];
  readonly allOn: boolean;
  readonly gzip: boolean;
  /** Approximate number of requests per connection; 0: all. */
  readonly perConnection: number;
  /** Many user agents and, with new connections, many client addresses. */
  readonly varied: boolean;
  readonly protocol: 'http1' | 'tls' | 'http2';
  /** Responses take longer than a round: MiB of content are counted, not responses, and p50 and p99 mean nothing. */
  readonly countsMib: boolean;
}

const GET_1K: Workload = {
  id: 'get_1k',
  name: '1 kB GET',
  path: '/1k',
  bodyBytes: 0,
  needs: [],
  allOn: false,
  gzip: false,
  perConnection: 0,
  varied: false,
  protocol: 'http1',
  countsMib: false,
};
const ALL_ON: Partial<Workload> = { allOn: true, needs: ['everything'], gzip: true };
const GET_100K: Partial<Workload> = { path: '/100k' };
const POST_10K: Partial<Workload> = { path: '/post', bodyBytes: 10_240 };
export const MIB = 2 ** 20;
const GET_1M: Partial<Workload> = { path: '/1m' };
const GET_1G: Partial<Workload> = { path: '/1g', countsMib: true };
const POST_1M: Partial<Workload> = { path: '/unbuffered/post', bodyBytes: MIB };
const TLS: Partial<Workload> = { needs: ['tls'], protocol: 'tls' };

// table: all workloads
export const WORKLOADS: readonly Workload[] = [
  GET_1K,
  { ...GET_1K, ...GET_100K, id: 'get_100k', name: '100 kB GET' },
  { ...GET_1K, ...POST_10K, id: 'post_10k', name: '10 kB POST' },
  { ...GET_1K, ...GET_1M, id: 'get_1m', name: '1 MiB GET' },
  { ...GET_1K, ...GET_1G, id: 'get_1g', name: 'a MiB of a GET of 1 GiB' },
  { ...GET_1K, ...POST_1M, id: 'post_1m', name: '1 MiB POST' },
  { ...GET_1K, id: 'get_1k_new', name: '1 kB GET, a connection each', perConnection: 1 },
  { ...GET_1K, ...TLS, id: 'get_1k_tls', name: '1 kB GET over TLS' },
  { ...GET_1K, ...TLS, id: 'get_1k_tls_new', name: '1 kB GET over TLS, a handshake each', perConnection: 1 },
  { ...GET_1K, id: 'get_1k_h2', name: '1 kB GET over HTTP/2', needs: ['http2'], protocol: 'http2' },
  { ...GET_1K, ...ALL_ON, id: 'all_get_1k', name: 'all on, 1 kB GET' },
  { ...GET_1K, ...ALL_ON, ...GET_100K, id: 'all_get_100k', name: 'all on, 100 kB GET' },
  { ...GET_1K, ...ALL_ON, ...POST_10K, id: 'all_post_10k', name: 'all on, 10 kB POST' },
  {
    ...GET_1K,
    ...ALL_ON,
    id: 'all_get_1k_varied',
    name: 'all on, 1 kB GET, 2,000 agents, 1,000 addresses',
    perConnection: 50,
    varied: true,
  },
];

/** Content of a MiB and more: what is paid for each byte. */
export function isLarge({ path }: Workload): boolean {
  return path === '/1m' || path === '/1g' || path === '/unbuffered/post';
}

/** Those of `--quick`, which takes less than two minutes; the whole takes ten. */
export const QUICK = ['get_1k', 'get_100k', 'post_10k', 'all_get_1k'] as const;
