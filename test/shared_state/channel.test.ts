import { expect, it } from 'vitest';
import { channelState } from '../../src/shared_state/channel.ts';
import type { FromHub, ToHub } from '../../src/shared_state/link.ts';

/** A process that has the state and does not answer. */

const QUESTION = { do: 'find', id: 'a' } as const;

function silentHub() {
  let isAwake = false;
  const sent: ToHub[] = [];
  let take: (message: FromHub) => void = () => undefined;
  const link = {
    send: (message: ToHub) => {
      sent.push(message);
      if (isAwake && 'asks' in message)
        take({ answers: message.asks.map(([serial]) => [serial, { text: 'kept' }]) });
      return true;
    },
    hear: (hears: typeof take) => void (take = hears),
    onOver: () => undefined,
  };
  const state = channelState(link, { whenUnavailable: 'local', answerMs: 5 });
  const wake = (): void => {
    isAwake = true;
    take({ answers: [[1, { text: null }]] });
  };
  return { state, sent, wake };
}

it('only the first questions wait for one that is silent: nothing more is asked until it answers', async () => {
  const { state, sent, wake } = silentHub();
  const late = { unavailable: 'local', detail: 'no answer in time' };
  expect(await state.ask(QUESTION)).toEqual(late);
  // At once, without a promise.
  expect(state.ask(QUESTION)).toEqual(late);
  expect(sent).toHaveLength(1);
  wake();
  expect(await state.ask(QUESTION)).toEqual({ text: 'kept' });
});

it('the end of a session is published to one that is silent', async () => {
  const { state, sent } = silentHub();
  await state.ask(QUESTION);
  await state.ask({ do: 'publish' });
  expect(sent).toHaveLength(2);
});
