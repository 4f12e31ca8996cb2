import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { subscribers } from '../../src/control/api/subscribers.ts';
import { openSqliteStore } from '../../src/control/store/sqlite.ts';
import { folderWith } from '../folder.ts';

const folder = folderWith();
const TYPES = ['a', 'b', 'c'];
const DESTINATIONS = ['ed_1', 'ed_2', 'ed_3'];

const writes = fc.record({
  id: fc.constantFrom('esb_1', 'esb_2', 'esb_3'),
  /** Null removes the subscription. */
  body: fc.option(
    fc.record({
      sources: fc.subarray(TYPES.map((type) => ({ type }))),
      destination_ids: fc.subarray(DESTINATIONS),
    }),
    { nil: null },
  ),
  fails: fc.boolean(),
});

it('are those of the subscriptions in the store, whatever writes of one commit fail', async () => {
  let count = 0;
  const property = fc.asyncProperty(fc.array(fc.array(writes, { maxLength: 5 }), { maxLength: 5 }), run);
  await fc.assert(property, { numRuns: 25 });

  async function run(groups: { id: string; body: unknown; fails: boolean }[][]): Promise<void> {
    const store = openSqliteStore(join(folder, `${++count}.db`));
    const kept = subscribers();
    for (const group of groups) {
      const all = group.map(({ id, body, fails }) =>
        store.write(async (transaction) => {
          const object = { id, kind: 'event_subscription', parent: null, references: [], claims: [] };
          await transaction.remove(id);
          if (body !== null) await transaction.insert({ ...object, body: body as never });
          kept.changed(transaction);
          for (const type of TYPES) {
            const found = (await transaction.all(['event_subscription'])).filter((each) =>
              (each.body['sources'] as { type: string }[]).some((source) => source.type === type),
            );
            const wanted = new Set(found.flatMap((each) => each.body['destination_ids'] as string[]));
            expect(new Set(await kept.of(type, transaction))).toEqual(wanted);
          }
          if (fails) throw new Error('no');
        }),
      );
      const results = await Promise.allSettled(all);
      expect(results.map(({ status }) => status)).toEqual(
        group.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
      );
      const told = await store.write(async (transaction) => kept.of('a', transaction));
      const fresh = await store.write(async (transaction) => subscribers().of('a', transaction));
      expect(told).toEqual(fresh);
    }
    await store.close();
  }
});
