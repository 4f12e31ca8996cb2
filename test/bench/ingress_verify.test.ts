import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ourConfig } from '../../bench/ingress/our_config.ts';
import { missingPrograms } from '../../bench/ingress/load.ts';
import type { Running } from '../../bench/ingress/processes.ts';
import { type Surroundings, surroundings } from '../../bench/ingress/surroundings.ts';
import { verify } from '../../bench/ingress/verify.ts';
import { WORKLOADS, type Workload } from '../../bench/ingress/workloads.ts';
import { type Listening, createEdge } from '../../src/edgeproof.ts';
import { skipped } from '../peers.ts';

/**
 * Servers are verified before they are measured. This tests the verification, with our edge in this process and the
 * upstream in C.
 */

const lacking = missingPrograms();
if (lacking.length > 0) skipped('servers of the ingress benchmark', `no ${lacking.join(', ')} here`);

const workload = (id: string): Workload => WORKLOADS.find((each) => each.id === id)!;

describe.skipIf(lacking.length > 0)('a contestant', () => {
  let around: Surroundings;
  let upstream: Running;
  const listening: Listening[] = [];

  beforeAll(async () => {
    around = await surroundings('');
    upstream = await around.startUpstream();
  });
  afterAll(async () => {
    await Promise.all(listening.map((each) => each.close(0)));
    await upstream.stop();
    around.close();
  });

  /** Our edge with a modified configuration, as JSON. */
  async function faultOf(measured: Workload, edit: (json: string) => string = (json) => json) {
    const edge = createEdge(JSON.parse(edit(ourConfig(around.site, measured.allOn))));
    const listens = await edge.listen({ tls: {} });
    listening.push(listens);
    const port = measured.protocol === 'http1' ? listens.port : listens.tlsPort!;
    return verify(measured, { port, upstreamPort: around.site.upstreamPort });
  }

  it.each(WORKLOADS.map(({ id }) => id))('that does all of %s is measured', async (id) => {
    expect(await faultOf(workload(id))).toBeNull();
  });

  it.each([
    [
      'get_1k',
      '"backend":{"backend_id":"app"}',
      '$&,"response_headers":{"add":{"x-more":"1"}}',
      'x-more too',
    ],
    [
      'get_1k',
      '"backend":{"backend_id":"app"}',
      '$&,"request_headers":{"remove":["accept"]}',
      'accept: none',
    ],
    ['get_1k', '"backend":{"backend_id":"app"}', '$&,"compression":{}', null],
    ['all_get_1k', '"compression":{},', '', 'no gzip'],
    ['all_get_1k', 'Abot0/', 'Abat0/', '200 for a denied user agent'],
    ['all_get_1k', '127.0.9.9/32', '127.0.9.8/32', '200 for a denied address'],
    ['all_post_10k', '"X-Plan":"basic"', '"X-Plan":"large"', 'x-plan: large'],
    ['all_get_1k', '"X-Internal"', '"X-Nothing"', 'x-internal too'],
  ])('of %s that has %s as %s is detected', async (id, from, to, fault) => {
    let edited = false;
    const found = await faultOf(workload(id), (json) => {
      const other = json.replace(from, to);
      edited = other !== json;
      return other;
    });
    expect(edited).toBe(true);
    if (fault === null) expect(found).toBeNull();
    else expect(found).toContain(fault);
  });
});
