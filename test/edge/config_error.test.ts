import { expect, test } from 'vitest';
import { ConfigError, createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';

test('a configuration with errors is refused: the message has the errors, the diagnostics all findings', () => {
  const rule = { expressions: ["req.headers['x'][0] == '1'"], actions: [{ type: 'denny' }] };
  const policy = { value: JSON.stringify({ on_http_request: [rule] }) };
  let error: unknown;
  try {
    createEdge(oneRoute({ traffic_policy: policy }));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ConfigError);
  const { message, diagnostics } = error as ConfigError;
  expect(new Set(diagnostics.map(({ severity }) => severity))).toEqual(new Set(['error', 'warning']));
  for (const { severity, message: text } of diagnostics)
    expect([text, message.includes(text)]).toEqual([text, severity === 'error']);
});
