import { type Receive, startTcpDouble } from './tcp_double.ts';
import { idOf } from './outbox.ts';

/**
 * The part of a NATS server with JetStream that a publisher sees (NATS, client protocol; JetStream wire API): it
 * acknowledges the messages before a PING together.
 */
export async function startNats(receive: Receive, subject = 'edge.events', maxPayload = 1_048_576) {
  const double = await startTcpDouble((socket) => {
    const info = { server_id: 'double', version: '2.12.0', proto: 1, headers: true, max_payload: maxPayload };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    let inbox = '0';
    let pending: { readonly reply: string; readonly event: string; readonly problem: string | null }[] = [];
    let sequence = 0;

    const tell = (reply: string, message: object): void => {
      const text = JSON.stringify(message);
      socket.write(`MSG ${reply} ${inbox} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
    };
    const failed = (code: number, number: number, description: string): object => ({
      error: { code, err_code: number, description },
    });

    /** Answers all messages since the last PING. */
    function answer(): void {
      const given = pending;
      pending = [];
      if (given.length === 0) return;
      const wrong = given.find(({ problem }) => problem !== null);
      const refused = wrong === undefined ? receive(given.map(({ event }) => event)) : null;
      for (const { reply } of given) {
        if (wrong !== undefined) tell(reply, failed(400, 10_000, wrong.problem!));
        else if (refused?.status === 413)
          tell(reply, failed(400, 10_054, 'message size exceeds maximum allowed'));
        else if (refused !== null) tell(reply, failed(503, 10_077, 'maximum messages exceeded'));
        else tell(reply, { stream: 'EDGE', seq: ++sequence });
      }
    }

    function take(line: string, [headers, body]: readonly [string, string]): void {
      const [, name, reply] = line.split(' ');
      const isRight = name === subject && headers.includes(`\r\nNats-Msg-Id: ${idOf(body)}\r\n`);
      pending.push({ reply: reply!, event: body, problem: isRight ? null : `${name} ${headers}` });
    }

    return (bytes) => {
      let at = 0;
      for (;;) {
        const end = bytes.indexOf('\r\n', at);
        if (end === -1) return bytes.subarray(at);
        const line = bytes.toString('utf8', at, end);
        const next = end + 2;
        if (line.startsWith('HPUB ')) {
          const [headerBytes, total] = line.split(' ').slice(-2).map(Number) as [number, number];
          if (bytes.length < next + total + 2) return bytes.subarray(at);
          const split = next + headerBytes;
          take(line, [bytes.toString('utf8', next, split), bytes.toString('utf8', split, next + total)]);
          at = next + total + 2;
          continue;
        }
        if (line.startsWith('SUB ')) inbox = line.split(' ').at(-1)!;
        if (line === 'PING') {
          answer();
          socket.write('PONG\r\n');
        }
        at = next;
      }
    };
  });
  return { url: `nats://127.0.0.1:${double.port}`, close: double.close };
}
