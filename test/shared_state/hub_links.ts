import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { channelState } from '../../src/shared_state/channel.ts';
import type { Hub } from '../../src/shared_state/hub.ts';
import type { FromHub, Link, ToHub } from '../../src/shared_state/link.ts';
import type { WhenUnavailable } from '../../src/engine/shared_question.ts';

type Port = InstanceType<typeof MessageChannel>['port1'];

/** A node's shared state over a real channel to a hub; `hold` makes the hub silent. */
export function nodeOf(hub: Hub, whenUnavailable: WhenUnavailable = 'local', answerMs = 1_000) {
  const { port1, port2 } = new MessageChannel();
  let isHeld = false;
  hub.attach({
    ...linkOver<FromHub, ToHub>(port2),
    hear: (take) => void port2.on('message', (message: ToHub) => isHeld || take(message)),
  });
  const state = channelState(linkOver<ToHub, FromHub>(port1), { whenUnavailable, answerMs });
  return {
    state,
    hold: async (held: boolean) => {
      isHeld = held;
      if (held) return;
      // A hub that is no longer silent answers what it was asked before.
      const answered = once(port1, 'message');
      port2.postMessage({ answers: [] } satisfies FromHub);
      await answered;
    },
    cut: () => port1.close(),
  };
}

function linkOver<Sent, Heard>(port: Port): Link<Sent, Heard> {
  let isOver = false;
  port.once('close', () => void (isOver = true));
  return {
    send: (message) => {
      if (isOver) return false;
      port.postMessage(message);
      return true;
    },
    hear: (take) => void port.on('message', take),
    onOver: (over) => void port.once('close', over),
  };
}
