import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClaimTaken, type Store, type StoredObject } from '../../../src/control/store/port.ts';

/** A database that a store can be opened on again and again. */
export interface Place {
  readonly open: () => Store | Promise<Store>;
  readonly remove: () => void | Promise<void>;
}

export function object(id: string, more: Partial<StoredObject> = {}): StoredObject {
  return {
    id,
    kind: 'thing',
    parent: null,
    body: { text: 'äöü 😀 \u0000' },
    references: [],
    claims: [],
    ...more,
  };
}

/** What every adapter of the store's port has to do. */
export function storeContract(name: string, place: () => Place | Promise<Place>): void {
  describe(`a store in ${name}`, () => {
    let at: Place;
    let store: Store;
    beforeEach(async () => {
      at = await place();
      store = await at.open();
    });
    afterEach(async () => {
      await store.close();
      await at.remove();
    });

    const insert = (...objects: StoredObject[]) =>
      store.write(async (transaction) => {
        for (const each of objects) await transaction.insert(each);
      });
    const ids = async (
      kind: string,
      page: Parameters<Parameters<Parameters<Store['read']>[0]>[0]['list']>[1],
    ) => (await store.read((view) => view.list(kind, page))).map(({ id }) => id);

    it('gives back what it was given, also when it is opened again', async () => {
      const claims = [{ space: 'name', value: 'x' }];
      const whole = object('b_1', {
        references: ['a_1'],
        claims,
        body: { a: [1, null, { b: true }], t: 1.5 },
      });
      await insert(object('a_1'), whole);
      const { references: _references, claims: _claims, ...kept } = whole;
      expect(await store.read((view) => view.get('b_1'))).toEqual(kept);
      expect(await store.read((view) => view.get('nothing'))).toBeNull();
      await store.close();
      store = await at.open();
      await store.read(async (view) => {
        expect(await view.get('b_1')).toEqual(kept);
        expect(await view.referrers('a_1')).toEqual(['b_1']);
        expect(await view.claimant(claims[0]!)).toBe('b_1');
      });
    });

    it('lists newest first, page by page, by kind and by parent', async () => {
      await insert(object('a_1'), object('a_2'), object('a_3'), object('o_1', { kind: 'other' }));
      await insert(
        object('p_1', { kind: 'part', parent: 'a_1' }),
        object('p_2', { kind: 'part', parent: 'a_2' }),
      );
      expect(await ids('thing', { limit: 2 })).toEqual(['a_3', 'a_2']);
      expect(await ids('thing', { limit: 2, beforeId: 'a_2' })).toEqual(['a_1']);
      expect(await ids('thing', { limit: 2, beforeId: 'a_25' })).toEqual(['a_2', 'a_1']);
      expect(await ids('part', { limit: 9, parent: 'a_1' })).toEqual(['p_1']);
      const all = await store.read((view) => view.all(['other', 'thing']));
      expect(all.map(({ id }) => id)).toEqual(['o_1', 'a_1', 'a_2', 'a_3']);
    });

    it('keeps nothing of a write that throws', async () => {
      await insert(object('a_1'));
      const failing = store.write(async (transaction) => {
        await transaction.insert(object('a_2'));
        await transaction.remove('a_1');
        await transaction.set('name', 'value');
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await ids('thing', { limit: 9 })).toEqual(['a_1']);
      expect(await store.read((view) => view.setting('name'))).toBeNull();
    });

    it('runs writes one after the other, and readers never see half of one', async () => {
      await insert(object('a_1', { body: { count: 0 } }));
      const seen: number[] = [];
      const writes = Array.from({ length: 50 }, () =>
        store.write(async (transaction) => {
          const { body } = (await transaction.get('a_1'))!;
          await transaction.replace(object('a_1', { body: { count: Number(body['count']) + 1 } }));
          await transaction.replace(object('a_1', { body: { count: Number(body['count']) + 2 } }));
        }),
      );
      const reads = Array.from({ length: 50 }, () =>
        store.read(async (view) => seen.push(Number((await view.get('a_1'))!.body['count']))),
      );
      await Promise.all([...writes, ...reads]);
      expect((await store.read((view) => view.get('a_1')))!.body).toEqual({ count: 100 });
      expect(seen.every((count) => count % 2 === 0)).toBe(true);
    });

    it('shows a write to every read that begins after it', async () => {
      await insert(object('a_1', { body: { count: 0 } }));
      const count = () => store.read(async (view) => (await view.get('a_1'))!.body['count']);
      // The first read is in the turn of the commit, before it.
      for (let number = 1; number <= 50; number++) {
        setImmediate(() => void count());
        await store.write((transaction) => transaction.replace(object('a_1', { body: { count: number } })));
        expect(await Promise.all([count(), count()])).toEqual([number, number]);
      }
    });

    it('gives a claim to one object only, and frees it with its owner', async () => {
      const claim = { space: 'name', value: 'x' };
      await insert(object('a_1', { claims: [claim] }));
      await expect(insert(object('a_2', { claims: [claim] }))).rejects.toThrow(ClaimTaken);
      expect(await store.read((view) => view.claimant(claim))).toBe('a_1');
      await store.write((transaction) => transaction.replace(object('a_1')));
      await insert(object('a_3', { claims: [claim] }));
      await store.write((transaction) => transaction.remove('a_3'));
      expect(await store.read((view) => view.claimant(claim))).toBeNull();
    });

    it('takes objects with many references and claims, and names the one that is not free', async () => {
      const claims = Array.from({ length: 3_000 }, (_, number) => ({ space: 'host', value: `h${number}` }));
      const parts = Array.from({ length: 100 }, (_, number) => object(`a_${number}`));
      await insert(...parts);
      const references = [...parts.map(({ id }) => id), 'b_1'];
      await insert(object('b_1', { references, claims }));
      expect(await store.read((view) => view.referrers('a_99'))).toEqual(['b_1']);
      const other = [
        { space: 'host', value: 'free' },
        { space: 'name', value: 'h1' },
      ];
      for (const taken of [{ space: 'host', value: 'h2999' }, other[0]!]) {
        const failing = insert(object('b_2', { claims: [...other, taken, claims[0]!] }));
        await expect(failing).rejects.toMatchObject({ name: 'ClaimTaken', claim: taken });
      }
      await store.write((transaction) => transaction.replace(object('b_1', { claims: other })));
      expect(await store.read((view) => view.claimant(claims[0]!))).toBeNull();
      expect(await store.read((view) => view.referrers('a_99'))).toEqual([]);
      await expect(insert(object('b_3', { references: ['a_1', 'a_100'] }))).rejects.toThrow(/a_100/);
    });

    it('knows who refers to an object, and never keeps a reference to nothing', async () => {
      await insert(
        object('a_1'),
        object('b_1', { references: ['a_1'] }),
        object('b_2', { references: ['a_1'] }),
      );
      expect(await store.read((view) => view.referrers('a_1'))).toEqual(['b_1', 'b_2']);
      await expect(store.write((transaction) => transaction.remove('a_1'))).rejects.toThrow(Error);
      await expect(insert(object('b_3', { references: ['a_9'] }))).rejects.toThrow(Error);
      await store.write((transaction) => transaction.replace(object('b_1')));
      expect(await store.read((view) => view.referrers('a_1'))).toEqual(['b_2']);
    });

    it('removes parts with what they are parts of, with their references and claims', async () => {
      const claim = { space: 'name', value: 'x' };
      await insert(object('a_1'), object('c_1'));
      await insert(object('p_1', { parent: 'a_1', references: ['c_1', 'a_1'], claims: [claim] }));
      await store.write((transaction) => transaction.remove('a_1'));
      expect(await store.read((view) => view.get('p_1'))).toBeNull();
      expect(await store.read((view) => view.referrers('c_1'))).toEqual([]);
      expect(await store.read((view) => view.claimant(claim))).toBeNull();
    });

    it('keeps audit records and deliveries with the write that they belong to', async () => {
      await insert(object('ed_1'), object('ed_2'));
      const record = (eventId: string) => ({
        eventId,
        eventType: 'x_created.v0',
        objectId: 'a_1',
        event: `"${eventId}"`,
      });
      await store.write(async (transaction) => {
        await transaction.record(record('ev_1'), ['ed_1', 'ed_2']);
        await transaction.record(record('ev_2'), ['ed_1']);
      });
      const failing = store.write(async (transaction) => {
        await transaction.record(record('ev_3'), ['ed_1']);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect((await store.read((view) => view.audit(9))).map(({ eventId }) => eventId)).toEqual([
        'ev_2',
        'ev_1',
      ]);
      const waiting = await store.read((view) => view.waiting('ed_1', 9));
      expect(waiting.map(({ event }) => event)).toEqual(['"ev_1"', '"ev_2"']);
      await store.write((transaction) => transaction.delivered([waiting[0]!.sequence]));
      expect(await store.read((view) => view.waitingCount('ed_1'))).toBe(1);
      await store.write((transaction) => transaction.remove('ed_1'));
      expect(await store.read((view) => view.waitingCount('ed_1'))).toBe(0);
      expect(await store.read((view) => view.waitingCount('ed_2'))).toBe(1);
    });

    it('counts pending deliveries and dead letters', async () => {
      await insert(object('ed_1'), object('ed_2'));
      const record = { eventType: 'x_created.v0', objectId: 'a_1', event: '{}' };
      const counts = () =>
        store.read(async (view) => [await view.waitingCount('ed_1'), await view.deadLetterCount('ed_1')]);
      expect(await counts()).toEqual([0, 0]);
      await store.write(async (transaction) => {
        for (const eventId of ['ev_1', 'ev_2', 'ev_3'])
          await transaction.record({ ...record, eventId }, ['ed_1', 'ed_2']);
        const [first, second] = await transaction.waiting('ed_1', 2);
        await transaction.delivered([first!.sequence, second!.sequence]);
        await transaction.bury('ed_1', [{ event: '{}', reason: 'refused' }]);
      });
      expect(await counts()).toEqual([1, 1]);
      await store.write((transaction) => transaction.revive('ed_1'));
      expect(await counts()).toEqual([2, 0]);
      const letters = Array.from({ length: 1_005 }, () => ({ event: '{}', reason: 'refused' }));
      await store.write((transaction) => transaction.bury('ed_1', letters));
      expect(await counts()).toEqual([2, 1_000]);
      await store.write((transaction) => transaction.remove('ed_1'));
      expect(await counts()).toEqual([0, 0]);
      expect(await store.read((view) => view.waitingCount('ed_2'))).toBe(3);
    });

    it('expires the oldest audit records and deliveries, a slice at a time', async () => {
      await insert(object('ed_1'));
      const days = [1, 2, 3, 4, 5];
      await store.write(async (transaction) => {
        for (const day of days) {
          const event = JSON.stringify({ event_timestamp: `2026-01-0${day}T00:00:00Z` });
          const record = { eventId: `ev_${day}`, eventType: 'x_created.v0', objectId: 'a_1', event };
          await transaction.record(record, ['ed_1']);
        }
      });
      const expire = (what: 'audit' | 'deliveries', limit: number) =>
        store.write((transaction) => transaction.expire(what, '2026-01-04T00:00:00Z', limit));
      expect([await expire('audit', 2), await expire('audit', 2), await expire('audit', 2)]).toEqual([
        2, 1, 0,
      ]);
      expect((await store.read((view) => view.audit(9))).map(({ eventId }) => eventId)).toEqual([
        'ev_5',
        'ev_4',
      ]);
      expect(await store.read((view) => view.waitingCount('ed_1'))).toBe(5);
      expect(await expire('deliveries', 9)).toBe(3);
      expect(await store.read((view) => view.waitingCount('ed_1'))).toBe(2);
    });

    it('drops the oldest droppable deliveries of a destination, and no other', async () => {
      await insert(object('ed_1'), object('ed_2'));
      await store.write(async (transaction) => {
        for (let number = 1; number <= 6; number++) {
          const eventId = `ev_${number}`;
          const record = { eventId, eventType: 'x_created.v0', objectId: 'a_1', event: `"${eventId}"` };
          await transaction.record({ ...record, isDroppable: number % 2 === 0 }, ['ed_1', 'ed_2']);
        }
      });
      expect(await store.write((transaction) => transaction.dropOldest('ed_1', 1))).toBe(2);
      expect(await store.write((transaction) => transaction.dropOldest('ed_1', 1))).toBe(0);
      const left = await store.read((view) => view.waiting('ed_1', 9));
      expect(left.map(({ event }) => event)).toEqual(['"ev_1"', '"ev_3"', '"ev_5"', '"ev_6"']);
      expect(await store.read((view) => view.waitingCount('ed_2'))).toBe(6);
    });

    it('commits writes that wait at the same time together, and a failing one alone is undone', async () => {
      const order: string[] = [];
      const write = (id: string, fails = false) =>
        store.write(async (transaction) => {
          transaction.undone(() => order.push(`undone ${id}`));
          await transaction.insert(object(id));
          order.push(id);
          if (fails) throw new Error('no');
        });
      const results = await Promise.allSettled([
        write('a_1'),
        write('a_2', true),
        write('a_1'),
        write('a_3'),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
      expect(order).toEqual(['a_1', 'a_2', 'undone a_2', 'undone a_1', 'a_3']);
      expect(await ids('thing', { limit: 9 })).toEqual(['a_3', 'a_1']);
    });

    it('remembers settings', async () => {
      await store.write((transaction) => transaction.set('name', 'one'));
      await store.write((transaction) => transaction.set('name', 'two'));
      expect(await store.read((view) => view.setting('name'))).toBe('two');
    });
  });
}
