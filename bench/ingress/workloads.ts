/** What a contestant supports besides HTTP/1.1 without TLS. */
export type Ability = 'tls' | 'http2' | 'everything';

/** One kind of load. */
export interface Workload {
  /** As in `--workload`. */
  readonly id: string;
  readonly name: string;
  readonly path: '/1k' | '/100k' | '/post';
  readonly bodyBytes: number;
  readonly needs: readonly Ability[];
  readonly allOn: boolean;
  readonly gzip: boolean;
  /** Approximate number of requests per connection; 0: all. */
  readonly perConnection: number;
  /** Many user agents and, with new connections, many client addresses. */
  readonly varied: boolean;
  readonly protocol: 'http1' | 'tls' | 'http2';
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
};
const ALL_ON: Partial<Workload> = { allOn: true, needs: ['everything'], gzip: true };
const GET_100K: Partial<Workload> = { path: '/100k' };
const POST_10K: Partial<Workload> = { path: '/post', bodyBytes: 10_240 };
const TLS: Partial<Workload> = { needs: ['tls'], protocol: 'tls' };

// table: all workloads
export const WORKLOADS: readonly Workload[] = [
  GET_1K,
  { ...GET_1K, ...GET_100K, id: 'get_100k', name: '100 kB GET' },
  { ...GET_1K, ...POST_10K, id: 'post_10k', name: '10 kB POST' },
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

/** Those of `--quick`, which takes less than two minutes; the whole takes ten. */
export const QUICK = ['get_1k', 'get_100k', 'post_10k', 'all_get_1k'] as const;
