import { expect, test } from 'vitest';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { PLAIN_ANSWER, type UpstreamScript, scriptedUpstreams } from '../../src/simulator/upstreams.ts';

function answering(...statuses: readonly number[]): UpstreamScript {
  return {
    answers: statuses.map((status) => Object.assign({}, PLAIN_ANSWER, { status })),
    afterwards: 'last',
  };
}

/** A map that counts how often all of it is read. */
class Counted extends Map<string, UpstreamScript> {
  reads = 0;
  override keys(): MapIterator<string> {
    this.reads++;
    return super.keys();
  }
  override [Symbol.iterator](): MapIterator<[string, UpstreamScript]> {
    this.reads++;
    return super[Symbol.iterator]();
  }
}

test('scripts of a file are used where a case has none, and begin again in each case', () => {
  const file = new Counted([
    ['app', answering(201, 202)],
    ['other', answering(500)],
  ]);
  for (let count = 0; count < 2; count++) {
    const upstreams = scriptedUpstreams(seededChance(1));
    upstreams.share(file);
    upstreams.set('other', answering(204));
    const statuses = ['app', 'app', 'app', 'other', 'none'].map((name) => upstreams.answerOf(name).status);
    expect(statuses).toEqual([201, 202, 202, 204, 200]);
    expect([...upstreams.used]).toEqual(['app', 'other']);
  }
  // A file may have thousands of scripts, and as many cases.
  expect(file.reads).toBe(0);
});

test('control requests get the script with the longest URL, of the case or of the file', () => {
  const upstreams = scriptedUpstreams(seededChance(1));
  upstreams.share(new Map([['https://api.test/users', answering(201)]]));
  expect(upstreams.answerAt('https://api.test/users/1', 'GET')!.status).toBe(201);
  expect(upstreams.answerAt('https://api.test/', 'GET')).toBeNull();
  upstreams.set('https://api.test', answering(404));
  expect(upstreams.answerAt('https://api.test/users/1', 'GET')!.status).toBe(201);
  expect(upstreams.answerAt('https://api.test/', 'GET')!.status).toBe(404);
});
