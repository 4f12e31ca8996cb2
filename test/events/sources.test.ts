import { describe, expect, it } from 'vitest';
import { AUDIT_OBJECTS } from '../../src/events/event_types.ts';
import { type TrafficType, fieldsOf } from '../../src/events/fields.ts';
import { captureOf, sourceProblem } from '../../src/events/sources.ts';

const type = 'http_request_complete.v0';

describe('a sample', () => {
  const taken = (rate: number) =>
    Array.from({ length: 2_000 }, (_, number) => `ev_${number}`).filter(
      (id) => captureOf({ type, sample_rate: rate })({}, id) !== null,
    );

  it('has its share of the events, and a smaller one is a part of it', () => {
    const [tenth, half] = [taken(0.1), taken(0.5)];
    expect(tenth.length).toBeGreaterThan(150);
    expect(tenth.length).toBeLessThan(250);
    expect(half.length).toBeGreaterThan(900);
    expect(half.length).toBeLessThan(1_100);
    expect(half).toEqual(expect.arrayContaining(tenth));
  });

  it('of 0 is empty, and of 1 is everything', () => {
    expect([taken(0).length, taken(1).length]).toEqual([0, 2_000]);
  });

  it('is not made of audit events', () => {
    expect(sourceProblem({ type: 'vault_created.v0', sample_rate: 0.5 })).toMatchObject({
      key: 'sample_rate',
    });
  });
});

describe.each([type, 'tcp_connection_closed.v0'])('fields of %s', (each) => {
  it.each([
    ['conn.client_ipp', 'conn.client_ip'],
    ['con', 'conn'],
  ])('that do not exist are refused: %s', (field, meant) => {
    expect(sourceProblem({ type: each, fields: [field] })?.message).toBe(
      `${each} has no field '${field}'; did you mean '${meant}'?`,
    );
  });
});

describe.each<TrafficType>([type, 'tcp_connection_closed.v0'])('what is captured of %s', (each) => {
  const fields = fieldsOf(each);
  const valueOf = (kind: string, path: string): unknown => (kind.startsWith('int') ? 443 : path);
  const object = nested(fields.map(([path, { type: kind }]) => [path, valueOf(kind, path)]));

  it('is any field alone, and any group', () => {
    for (const [path, { type: kind }] of fields) {
      const captured = captureOf({ type: each, fields: [path] })(object, 'ev_1');
      expect(captured).toEqual(nested([[path, valueOf(kind, path)]]));
    }
    const conn = fields.filter(([path]) => path.startsWith('conn.'));
    expect(captureOf({ type: each, fields: ['conn'] })(object, 'ev_1')).toEqual(
      nested(conn.map(([path, { type: kind }]) => [path, valueOf(kind, path)])),
    );
  });

  it('is chosen by a filter over the whole object, whatever fields are chosen', () => {
    const take = (filter: string) =>
      captureOf({ type: each, filter, fields: ['conn.client_ip'] })(object, 'ev_1');
    const picked = { conn: { client_ip: 'conn.client_ip' } };
    expect(take('ev.conn.server_port == 443')).toEqual(picked);
    expect(take('ev.conn.server_port == 80')).toBeNull();
    expect(take('ev.conn.server_name == "conn.server_name" && ev.conn.server_port > 1')).toEqual(picked);
  });
});

function nested(values: readonly (readonly [path: string, value: unknown])[]): object {
  const whole: Record<string, unknown> = {};
  for (const [path, value] of values) {
    const keys = path.split('.');
    let place = whole;
    for (const key of keys.slice(0, -1)) place = (place[key] ??= {}) as Record<string, unknown>;
    place[keys.at(-1)!] = value;
  }
  return whole;
}

it('audit events of every type have no filter, no fields and no sample', () => {
  for (const subject of AUDIT_OBJECTS) {
    const audit = `${subject}_created.v0`;
    const problems = [{ filter: 'true' }, { fields: ['id'] }, { sample_rate: 1 }].map(
      (given) => sourceProblem({ type: audit, ...given })?.number,
    );
    expect([audit, ...problems]).toEqual([audit, 5402, 5401, 5402]);
    expect(sourceProblem({ type: audit })).toBeNull();
  }
});
