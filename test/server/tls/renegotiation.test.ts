import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../../src/edgeproof.ts';
import type { Listening } from '../../../src/listening.ts';
import { hasProgram } from '../../peers.ts';
import { SERVER, testAuthority } from './authority.ts';

const hasOpenssl = hasProgram('openssl', ['version'], 'TLS renegotiation of openssl');

describe.skipIf(!hasOpenssl)('a client of TLS 1.2', () => {
  let listening: Listening;

  beforeAll(async () => {
    const pair = testAuthority('servers').issue('a.test', SERVER('a.test'));
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    const edge = createEdge({
      backends: { app: { static: { address: '127.0.0.1:1' } } },
      tls_certificates: { a: { certificate_pem: pair.cert, private_key_pem: pair.key } },
      edges: { https: { a: { hostports: ['a.test:443'], routes } } },
    });
    listening = await edge.listen({ tls: { port: 0 } });
  });
  afterAll(() => listening?.close(0));

  it('has one handshake on one connection', async () => {
    const args = [
      's_client',
      '-connect',
      `127.0.0.1:${listening.tlsPort}`,
      '-servername',
      'a.test',
      '-tls1_2',
    ];
    const client = spawn('openssl', args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let got = '';
    for (const stream of [client.stdout, client.stderr])
      stream.on('data', (bytes: Buffer) => (got += bytes.toString()));
    await expect.poll(() => got).toContain('Verify return code');
    client.stdin.write('R\n');
    await expect.poll(() => got).toMatch(/no renegotiation/i);
    client.kill();
    expect(got).toContain('RENEGOTIATING');
  });
});
