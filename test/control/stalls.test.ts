import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connected } from '../../src/control/api/objects.ts';
import type { Body } from '../../src/control/resources/contract.ts';
import { resourceOfKind } from '../../src/control/resources/table.ts';
import { LEXEMES_OF_STEP } from '../../src/config_file/read.ts';
import { newIds } from '../../src/events/identifiers.ts';
import { PARTS_OF_STEP } from '../../src/config_file/steps.ts';
import { runs } from '../random.ts';
import { type Instance, startInstance } from './instance.ts';

/** Long work of one request holds up neither other requests nor the edge: they are answered before it ends. */

const OBJECTS = runs(100_000, 5_000);
/** Requests that have to be answered during any of this. */
const BETWEEN = 3;

let instance: Instance;
let policy: string;
/** What the other requests read. */
let vault: string;
beforeAll(async () => {
  instance = await startInstance();
  policy = (await instance.make('/ip_policies', { description: 'many rules' })).id;
  vault = (await instance.make('/vaults', { name: 'read' })).id;
  const newId = newIds(Date.now);
  const put = (kind: string, parent: string | null, body: Body) => {
    const resource = resourceOfKind(kind);
    const common = { created_at: '2026-01-01T00:00:00Z', description: '', metadata: '' };
    return connected(resource, newId(resource.prefix), parent, { ...common, ...body });
  };
  await instance.management.store.write(async (transaction) => {
    for (let number = 0; number < OBJECTS; number++) {
      const cidr = `${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}.0/24`;
      const rule = { cidr, action: 'allow', ip_policy_id: policy };
      await transaction.insert(put('ip_policy_rule', policy, rule));
    }
  });
});
afterAll(() => instance.close());

/** The answer of long work, and the number of requests that were answered before it, each sent after the last one. */
async function during<Answer>(work: Promise<Answer>): Promise<{ answer: Answer; between: number }> {
  let between = 0;
  let isEnded = false;
  const ended = work.finally(() => void (isEnded = true));
  while (!isEnded) {
    const { status } = await instance.call('GET', `/vaults/${vault}`);
    expect(status).toBe(200);
    expect(instance.management.edge.decide({ method: 'GET', url: 'https://none.test/' }).status).toBe(404);
    if (!isEnded) between++;
  }
  return { answer: await ended, between };
}

/** Counts how often the program lets other work run; the function ends the count. */
function pausesOfProgram(): () => number {
  const spy = vi.spyOn(timers, 'setImmediate');
  syncBuiltinESMExports();
  return () => {
    const { length } = spy.mock.calls;
    spy.mockRestore();
    syncBuiltinESMExports();
    return length;
  };
}

describe(`with ${OBJECTS} objects, requests are answered during`, () => {
  it.each([
    ['a filter that nothing fits', `/ip_policy_rules?filter=${encodeURIComponent("obj.cidr == 'none'")}`],
    ['an export', '/edge_file'],
    ['an export with secrets', '/edge_file?secrets=true&private_keys=true'],
  ])('%s', async (_name, path) => {
    const { answer, between } = await during(instance.call('GET', path));
    expect(answer.status).toBe(200);
    expect(between).toBeGreaterThanOrEqual(BETWEEN);
    if (path.startsWith('/edge_file')) {
      const [exported] = Object.values<{ rules: unknown[] }>(answer.body.document.ip_policies);
      expect(exported!.rules).toHaveLength(OBJECTS);
    }
  });

  it('the exact analysis of a file', async () => {
    const rule = (number: number) => ({
      expressions: [`req.url.path.matches('^/${number}.*x[0-9]+$')`],
      actions: [{ type: 'deny' }],
    });
    const routes = Array.from({ length: 20 }, (_, number) => ({
      match_type: 'path_prefix',
      match: `/${number}`,
      traffic_policy: { value: JSON.stringify({ on_http_request: [rule(number), rule(number)] }) },
      backend: { backend_id: 'b' },
    }));
    const file = {
      backends: { b: { http_response: { status_code: 200 } } },
      edges: { https: { e: { hostports: ['a.test:443'], routes } } },
    };
    const { answer, between } = await during(
      instance.call('PUT', '/edge_file?dry_run=true&exact=true&force=true', file),
    );
    expect(answer.status).toBe(200);
    expect(answer.body.warnings.length).toBeGreaterThan(0);
    expect(between).toBeGreaterThanOrEqual(BETWEEN);
  });

  /** The number of pauses while a policy is written. */
  const pausesOf = async (host: string, value: string): Promise<number> => {
    const { id } = await instance.make('/edges/https', { hostports: [`${host}:443`] });
    const route = { match_type: 'path_prefix', match: '/', traffic_policy: { value } };
    const pauses = pausesOfProgram();
    const { answer, between } = await during(instance.call('POST', `/edges/https/${id}/routes`, route));
    expect(answer.status).toBe(201);
    expect(between).toBeGreaterThanOrEqual(BETWEEN);
    const paused = pauses();
    expect(instance.management.edge.decide({ url: `https://${host}/` }).status).toBe(403);
    expect((await instance.call('DELETE', `/edges/https/${id}`)).status).toBe(204);
    return paused;
  };
  const deny = [{ type: 'deny' }];

  it('a policy of as many rules as a text may have', async () => {
    const rules = Array.from({ length: runs(13_900, 4_000) }, (_, number) => ({
      expressions: [`conn.client_port==${number}`],
      actions: deny,
    }));
    const value = JSON.stringify({ on_http_request: [...rules, { actions: deny }] });
    // Conditions, the form of rules, their actions, their expressions, the document, its compilation, and the three
    // steps of the index in turn.
    expect(await pausesOf('policy.test', value)).toBeGreaterThanOrEqual(
      9 * Math.floor(rules.length / PARTS_OF_STEP),
    );
  });

  it('a policy with a rule of many actions', async () => {
    const log = { type: 'log', config: { metadata: { seen: '${req.method}' } } };
    const logs = Array.from({ length: runs(8_000, 2_000) }, () => log);
    const value = JSON.stringify({ on_http_request: [{ actions: [...logs, ...deny] }] });
    // Actions, their expressions, and their compilation.
    expect(await pausesOf('actions.test', value)).toBeGreaterThanOrEqual(
      3 * Math.floor(logs.length / PARTS_OF_STEP),
    );
  });

  it('a policy in YAML', async () => {
    const rules = Array.from(
      { length: runs(3_600, 2_000) },
      (_, number) => `- expressions: ['conn.client_port==${number}']\n  actions: [{ type: deny }]\n`,
    );
    const value = `on_http_request:\n${rules.join('')}- actions: [{ type: deny }]\n`;
    const ofRules = 8 * Math.floor(rules.length / PARTS_OF_STEP);
    // About 20 parts of YAML a rule.
    const ofText = Math.floor((20 * rules.length) / LEXEMES_OF_STEP);
    expect(await pausesOf('yaml.test', value)).toBeGreaterThanOrEqual(ofRules + ofText);
  });

  it('a lock of another process on the store', async () => {
    const other = new DatabaseSync(join(instance.folder, 'store.db'));
    other.exec('BEGIN IMMEDIATE');
    const written = instance.call('POST', '/vaults', { name: 'waits' });
    for (let answered = 0; answered < BETWEEN; answered++)
      expect((await instance.call('GET', `/vaults/${vault}`)).status).toBe(200);
    other.exec('COMMIT');
    other.close();
    expect((await written).status).toBe(201);
  });

  it('the removal of an object with as many parts', async () => {
    const { answer, between } = await during(instance.call('DELETE', `/ip_policies/${policy}`));
    expect(answer.status).toBe(204);
    expect(between).toBeGreaterThanOrEqual(BETWEEN);
  });
});
