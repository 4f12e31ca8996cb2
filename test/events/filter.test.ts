import { describe, expect, it } from 'vitest';
import { type EventFilter, compileEventFilter } from '../../src/events/filter.ts';

const event = {
  conn: { client_ip: '192.0.2.7', server_ip: '127.0.0.1', server_name: 'a.example.test', server_port: 443 },
};
const filter = (source: string) => compileEventFilter(source) as EventFilter;

describe('a filter of events', () => {
  it.each([
    ['ev.conn.server_port == 443 && ev.conn.server_name.endsWith(".example.test")', true],
    ['ev.conn.server_port == 80', false],
    ['ev.conn.client_ip in ["192.0.2.7"]', true],
    ['ev.conn.server_port / 0 == 1', false],
  ])('%s', (source, takes) => {
    expect(filter(source).takes(event)).toBe(takes);
  });

  it.each([
    ['ev.http.request.method == "get"', 'not filterable'],
    ['ev.conn.client_port == 1', 'client_port'],
    ['ev.conn.server_port', 'bool'],
    ['conn.server_port == 443', 'conn'],
  ])('refuses %s', (source, message) => {
    const answer = compileEventFilter(source);
    expect('diagnostics' in answer && answer.diagnostics.map((each) => each.message).join()).toContain(
      message,
    );
  });
});
