import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { play, routeOf } from './stage.ts';
import { sized } from '../../random.ts';

type Step = { readonly add: readonly [string, string] } | { readonly remove: readonly string[] };

const name = fc.constantFrom('x-a', 'X-A', 'x-b', 'X-b', 'host', 'x-forwarded-for');
const value = fc.constantFrom('1', 'two', 'b.example');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(name, value)
    .map(([added, text]) => ({ add: [added, added === 'host' ? 'b.example' : text] as const })),
  fc
    .uniqueArray(fc.constantFrom('x-a', 'X-B', 'x-forwarded-for', 'x-c'), { minLength: 1 })
    .map((remove) => ({ remove })),
);

/** What the steps make of a list of fields, said in the simplest way. */
function naive(fields: readonly string[], steps: readonly Step[]): string[] {
  let pairs: (readonly [string, string])[] = [];
  for (let at = 0; at < fields.length; at += 2) pairs.push([fields[at]!, fields[at + 1]!]);
  for (const each of steps) {
    const gone =
      'remove' in each ? each.remove.map((one) => one.toLowerCase()) : each.add[0] === 'host' ? ['host'] : [];
    pairs = pairs.filter(([field]) => !gone.includes(field.toLowerCase()));
    if ('add' in each) pairs.push([each.add[0].toLowerCase(), each.add[1]]);
  }
  return pairs.flat();
}

/** All values by lower-case name, in their order: what expressions see, and what matters of a head. */
function byName(fields: readonly string[]): Record<string, string[]> {
  const named: Record<string, string[]> = {};
  for (let at = 0; at < fields.length; at += 2)
    (named[fields[at]!.toLowerCase()] ??= []).push(fields[at + 1]!);
  return named;
}

function actionOf(each: Step): object {
  return 'add' in each
    ? { type: 'add-headers', config: { headers: { [each.add[0]]: each.add[1] } } }
    : { type: 'remove-headers', config: { headers: each.remove } };
}

const log = { type: 'log', config: { metadata: { seen: '${headers}' } } };

test('added and removed headers are the same for the upstream and for expressions', () => {
  const sent = fc.constantFrom(
    [],
    ['X-A', 'sent'],
    ['x-b', '1', 'X-B', '2', 'x-c', '3'],
    ['X-Forwarded-For', '10.0.0.1'],
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), sent, (steps, headers) => {
      const look = JSON.parse(JSON.stringify(log).replace('headers', 'req.headers')) as object;
      const route = routeOf(
        JSON.stringify({ on_http_request: [{ actions: [...steps.map(actionOf), look] }] }),
      );
      const { asked, exchange } = play(route, { headers });
      expect(exchange.logs).toEqual([{ seen: byName(naive(['Host', 'a.example', ...headers], steps)) }]);
      const forward = asked.find((question) => question.ask === 'forward')!;
      // What the edge itself adds for the upstream is there before the policy's edits.
      const untouched = play(routeOf('{}'), { headers }).asked.find(
        (question) => question.ask === 'forward',
      )!;
      const before =
        'request' in untouched && 'endpoint' in untouched.request ? untouched.request.headers : [];
      const after = 'request' in forward && 'endpoint' in forward.request ? forward.request.headers : [];
      expect(byName(after)).toEqual(byName(naive(before, steps)));
    }),
    sized(150, 11),
  );
});

test('the same for responses', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      const look = JSON.parse(JSON.stringify(log).replace('headers', 'res.headers')) as object;
      const route = routeOf(
        JSON.stringify({ on_http_response: [{ actions: [...steps.map(actionOf), look] }] }),
      );
      const headers = ['X-A', 'sent', 'x-c', '3'];
      const { reply, exchange } = play(route, {}, { upstream: { headers } });
      const expected = byName(naive(headers, steps));
      expect(byName(reply.headers)).toEqual(expected);
      expect(exchange.logs).toEqual([{ seen: expected }]);
    }),
    sized(100, 12),
  );
});
