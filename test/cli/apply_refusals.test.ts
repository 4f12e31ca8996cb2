import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiNumbers } from '../../src/control/api_numbers.ts';
import { folderWith } from '../folder.ts';
import { oneRoute } from '../one_route.ts';
import { edgeproof } from './command.ts';

// Only refusals of the body are findings of the file, with exit code 3. The catalogue of numbers says which they are.

const folder = folderWith({ 'edge.yaml': JSON.stringify(oneRoute({})) });
let number = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ status_code: 400, error_code: `ERR_ACME_${number}`, msg: 'No.', details: {} }),
    );
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

it.each([
  [215, 3],
  [7112, 3],
  [210, 4],
  [217, 4],
  [218, 4],
  [220, 4],
  [231, 4],
  [635, 4],
])('a refusal with the number %d ends apply with %d', async (given, code) => {
  number = given;
  expect(apiNumbers().map((each) => each.number)).toContain(given);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ran = await edgeproof(['apply', 'edge.yaml', '--url', url], folder, { EDGEPROOF_API_KEY: 'key' });
  expect(ran).toMatchObject({ code, stderr: expect.stringContaining(`ERR_ACME_${given}: No.`) as string });
});
