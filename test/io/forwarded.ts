import { NO_BODY } from '../../src/io/buffered_body.ts';
import type {
  Body,
  Forwarded,
  Forwarding,
  ForwardOptions,
  RequestBody,
  UpstreamClient,
} from '../../src/io/ports.ts';
import type { UpstreamRequest } from '../../src/engine/questions.ts';
import type { FieldList } from '../../src/http/fields.ts';

const USUAL: ForwardOptions = { expectsContinue: false, takesTrailers: false };

/** Forwards, and settles with the result. */
export function forwarded(
  client: UpstreamClient,
  request: UpstreamRequest,
  body: Body = NO_BODY,
  options: ForwardOptions = USUAL,
): { readonly came: Promise<Forwarded>; readonly forwarding: Forwarding } {
  let forwarding: Forwarding | null = null;
  const came = new Promise<Forwarded>((resolve) => {
    forwarding = client.forward(request, body, options, {
      interim: () => undefined,
      answered: (head, reused, content) => resolve({ head, reused, body: content }),
      switched: (head, reused, tunnel) => resolve({ head, reused, tunnel }),
      failed: (failure, detail) => resolve({ failure, detail }),
    });
  });
  return { came, forwarding: forwarding! };
}

/** How a body ended. */
export interface Drunk {
  readonly bytes: Buffer;
  readonly last: 'end' | { readonly fault: string; readonly detail: string };
  readonly trailers: FieldList;
}

/** Reads a whole body. */
export function drink(body: Pick<Body | RequestBody, 'flow'>): Promise<Drunk> {
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    body.flow({
      take: (bytes) => void pieces.push(Buffer.from(bytes)),
      rest: () => true,
      end: (trailers) => {
        resolve({ bytes: Buffer.concat(pieces), last: 'end', trailers });
        return true;
      },
      fail: (fault, detail) =>
        resolve({ bytes: Buffer.concat(pieces), last: { fault, detail }, trailers: [] }),
    });
  });
}
