import type { AnswerTo, Question } from '../engine/contract.ts';
import type { KeptBytes, Tape } from './tape.ts';

/** The engine as a driver sees it: as much of it as a tape listens to. */
interface Conversation {
  next(exchange: object): Question | null;
  answer(exchange: object, given: AnswerTo<Question>): Question | null;
}

/** Lets a tape hear what is asked and answered; nothing else changes. */
export function listenIn<P extends Conversation>(plane: P, tape: Tape): P {
  const heard = (exchange: object, question: Question | null): Question | null => {
    tape.asked(exchange, question);
    return question;
  };
  return {
    ...plane,
    next: (exchange: object) => heard(exchange, plane.next(exchange)),
    answer: (exchange: object, given: AnswerTo<Question>) => {
      tape.answered(exchange, given);
      return heard(exchange, plane.answer(exchange, given));
    },
  };
}

interface PulledBody {
  readonly lengthBytes: number | null;
  pull(): Promise<{ readonly part: string }>;
}

interface Client<B extends PulledBody, F> {
  forward(request: { readonly headers: readonly string[] }, body: B, gone: AbortSignal): Promise<F>;
  close(): Promise<void>;
}

/** Lets a tape see the bodies that go to upstreams and come back, at the pace at which they are pulled. */
export function copyBodies<C extends Client<never, unknown>>(client: C, tape: Tape): C {
  const open = client as unknown as Client<PulledBody, object>;
  const copying: Client<PulledBody, object> = {
    close: () => open.close(),
    forward: async (request, body, gone) => {
      const kept = tape.bodiesOf(request.headers);
      if (kept === null) return open.forward(request, body, gone);
      const answered = await open.forward(request, copied(body, kept.request), gone);
      if (!('body' in answered)) return answered;
      return { ...answered, body: copied(answered.body as PulledBody, kept.response) };
    },
  };
  return copying as unknown as C;
}

function copied<B extends PulledBody & { cancel?: () => void }>(body: B, kept: KeptBytes): B {
  const own: PulledBody = {
    get lengthBytes() {
      return body.lengthBytes;
    },
    pull: async () => {
      const part = await body.pull();
      if ('bytes' in part) kept.add(part.bytes as Uint8Array);
      return part;
    },
  };
  return (body.cancel === undefined ? own : Object.assign(own, { cancel: () => body.cancel!() })) as B;
}
