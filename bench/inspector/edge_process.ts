/** An edge of one backend: alone, with a listener of events, or with an inspector. Tells its ports, and its processor time when asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';

const upstream = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"name":"lamp","price":9}');
});
upstream.listen(0, '127.0.0.1', () => {
  const { port } = upstream.address() as AddressInfo;
  void serve(`127.0.0.1:${port}`);
});

async function serve(address: string): Promise<void> {
  const policy = JSON.stringify({
    on_http_request: [
      { expressions: ["req.url.path.startsWith('/admin')"], actions: [{ type: 'deny', config: {} }] },
    ],
  });
  const route = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: 'app' },
    traffic_policy: { value: policy },
  } as const;
  const [, , observer] = process.argv;
  const edge = createEdge(
    {
      backends: { app: { static: { address } } },
      edges: { https: { main: { hostports: ['app.test:443'], routes: [route] } } },
    },
    observer === 'nothing' ? {} : { onEvent: () => undefined },
  );
  const inspector = observer === 'inspector' && { inspector: { port: 0 } };
  const listening = await edge.listen({ port: 0, ...inspector });
  const { port, inspectorUrl = null } = listening;
  process.on('message', () => process.send!(process.cpuUsage()));
  process.send!({ port, inspectorUrl });
}
