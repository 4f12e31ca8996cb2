import { expect, test } from 'vitest';
import { IS_FULL, runs, seeded } from '../../random.ts';
import { REQUEST_DIFFERENCES, RESPONSE_DIFFERENCES } from './differences.ts';
import { llhttpReads } from './llhttp.ts';
import { type ReadMessage, type ReadStream, readRequests, readResponses } from './messages.ts';
import { cutsOf, mutated } from './mutations.ts';

/**
 * Mutated streams against Node's parser in its strict mode: whatever ours takes, that one takes as the same message;
 * where ours refuses what that one takes, the reason is in the table. Ours reads the same however the bytes are cut.
 */

/** Half of the streams are requests, half responses. */
const COUNT = runs(100_000);

const show = (bytes: Buffer): string => JSON.stringify(bytes.toString('latin1'));

function sameMessage(one: ReadMessage, other: ReadMessage): boolean {
  return (
    one.line === other.line &&
    one.version === other.version &&
    one.whole === other.whole &&
    one.body === other.body &&
    one.fields.length === other.fields.length &&
    one.fields.every((text, index) => text === other.fields[index])
  );
}

/** What our parser accepted and the other one rejected or read differently. */
function moreLenient(ours: ReadStream, theirs: ReadStream): string | null {
  for (const [index, message] of ours.messages.entries()) {
    const other = theirs.messages[index];
    if (other === undefined) return `message ${index} is none for the other: ${theirs.problem}`;
    if (message.whole ? !sameMessage(message, other) : message.line !== other.line) {
      return `message ${index} is ${JSON.stringify(other)}, not ${JSON.stringify(message)}`;
    }
  }
  return null;
}

/** Whether the other parser accepted more where ours refused. */
function isStricter(ours: ReadStream, theirs: ReadStream): boolean {
  if (ours.problem === null) return false;
  const last = ours.messages.at(-1);
  if (last !== undefined && !last.whole)
    return theirs.messages[ours.messages.length - 1]!.whole || theirs.problem === null;
  return theirs.messages.length > ours.messages.length;
}

test.each([
  ['request', readRequests, REQUEST_DIFFERENCES],
  ['response', readResponses, RESPONSE_DIFFERENCES],
] as const)(
  '%s streams: never more lenient than llhttp, and each difference has a reason',
  (kind, read, table) => {
    const random = seeded(1);
    const stricter = new Map<string, { count: number; example: string }>();
    let taken = 0;
    for (let index = 0; index < COUNT / 2; index++) {
      const bytes = mutated(kind, random);
      const stream = { bytes, cuts: cutsOf(bytes.length, random) };
      const ours = read(stream);
      const whole = stream.cuts.length === 0 ? ours : read({ bytes, cuts: [] });
      if (JSON.stringify(whole.messages) !== JSON.stringify(ours.messages)) {
        expect.fail(`read otherwise when cut at ${stream.cuts.join()}: ${show(bytes)}`);
      }
      // A fault may be found earlier or later and reported differently; whether there is one must not depend on the
      // splits.
      if (
        (whole.problem === null) !== (ours.problem === null) &&
        !isUnfinished(ours) &&
        !isUnfinished(whole)
      ) {
        expect.fail(
          `refused or not by cuts at ${stream.cuts.join()}: ${whole.problem}, ${ours.problem}: ${show(bytes)}`,
        );
      }
      const theirs = llhttpReads({ bytes, cuts: [] }, kind);
      const lenient = moreLenient(whole, theirs);
      if (lenient !== null) expect.fail(`${lenient}: ${show(bytes)}`);
      if (isStricter(whole, theirs)) {
        const known = stricter.get(whole.problem!);
        if (known === undefined) stricter.set(whole.problem!, { count: 1, example: show(bytes) });
        else known.count++;
      }
      taken += whole.messages.length;
    }
    // Enough of them are valid for the test to be meaningful.
    expect(taken).toBeGreaterThan(COUNT / 8);
    const unexplained = [...stricter].filter(([problem]) => !(problem in table));
    expect(unexplained).toEqual([]);
    if (IS_FULL) {
      for (const [problem, { count }] of stricter) console.log(`${kind}: ${count} ${problem}`);
    }
  },
  600_000,
);

/** Whether the input ended within a head or content: faults in it may be found only when it is complete. */
function isUnfinished({ problem, unread, messages }: ReadStream): boolean {
  return problem === null && (unread > 0 || messages.at(-1)?.whole === false);
}
