import * as grpc from '@grpc/grpc-js';

/** A service without a schema: messages are bytes. */
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/test.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: (value: Buffer) => value,
  requestDeserialize: (value: Buffer) => value,
  responseSerialize: (value: Buffer) => value,
  responseDeserialize: (value: Buffer) => value,
});

const ECHO = {
  unary: method('Unary', false, false),
  gather: method('Gather', true, false),
  spread: method('Spread', false, true),
  chat: method('Chat', true, true),
} as const;

export interface EchoServer {
  readonly port: number;
  readonly server: grpc.Server;
  /** Calls that their client cancelled. */
  readonly cancelled: string[];
}

/** The server of grpc-js, in clear text. */
export async function echoServer(): Promise<EchoServer> {
  const cancelled: string[] = [];
  const server = new grpc.Server();
  const implementation: grpc.UntypedServiceImplementation = {
    unary: ((call: grpc.ServerUnaryCall<Buffer, Buffer>, callback: grpc.sendUnaryData<Buffer>) => {
      const asked = String(call.metadata.get('x-ask')[0] ?? '');
      const trailer = new grpc.Metadata();
      trailer.set('x-trailer', 'behind');
      trailer.set('x-raw-bin', Buffer.from([0, 255, 7]));
      if (asked === 'hang') {
        call.on('cancelled', () => cancelled.push('unary'));
        return;
      }
      if (asked === 'error') {
        const error = { code: grpc.status.FAILED_PRECONDITION, details: 'nö', metadata: trailer };
        callback(error);
        return;
      }
      const head = new grpc.Metadata();
      head.set('x-head', String(call.metadata.get('x-head')[0] ?? ''));
      call.sendMetadata(head);
      callback(null, call.request, trailer);
    }) as grpc.handleUnaryCall<Buffer, Buffer>,
    gather: ((call: grpc.ServerReadableStream<Buffer, Buffer>, callback: grpc.sendUnaryData<Buffer>) => {
      let bytes = 0;
      call.on('data', (message: Buffer) => {
        bytes += message.length;
      });
      call.on('end', () => callback(null, Buffer.from(String(bytes))));
    }) as grpc.handleClientStreamingCall<Buffer, Buffer>,
    spread: ((call: grpc.ServerWritableStream<Buffer, Buffer>) => {
      const count = Number(call.request.toString());
      let next = 0;
      call.on('cancelled', () => cancelled.push('spread'));
      const more = (): void => {
        while (next < count) if (!call.write(Buffer.alloc(10_000, next++ % 256))) return;
        if (next++ === count) call.end();
      };
      call.on('drain', more);
      more();
    }) as grpc.handleServerStreamingCall<Buffer, Buffer>,
    chat: ((call: grpc.ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', (message: Buffer) => call.write(message));
      call.on('end', () => call.end());
    }) as grpc.handleBidiStreamingCall<Buffer, Buffer>,
  };
  server.addService(ECHO, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, server, cancelled };
}

export interface EchoClient {
  unary(
    message: Buffer,
    metadata: grpc.Metadata,
    options: grpc.CallOptions,
    callback: grpc.requestCallback<Buffer>,
  ): grpc.ClientUnaryCall;
  gather(callback: grpc.requestCallback<Buffer>): grpc.ClientWritableStream<Buffer>;
  spread(message: Buffer): grpc.ClientReadableStream<Buffer>;
  chat(): grpc.ClientDuplexStream<Buffer, Buffer>;
  close(): void;
}

const Client = grpc.makeGenericClientConstructor(ECHO, 'Echo');

/** The client of grpc-js; `authority` is the host of the edge. */
export function echoClient(
  port: number,
  credentials: grpc.ChannelCredentials,
  authority: string,
): EchoClient {
  return new Client(`127.0.0.1:${port}`, credentials, {
    'grpc.default_authority': authority,
    'grpc.ssl_target_name_override': authority,
  }) as unknown as EchoClient;
}

export interface Answered {
  readonly value: Buffer | null;
  readonly error: grpc.ServiceError | null;
  readonly head: grpc.Metadata | null;
  readonly status: grpc.StatusObject;
}

/** One unary call and its result. */
export function ask(
  client: EchoClient,
  message: Buffer,
  fields: Readonly<Record<string, string>> = {},
  options: grpc.CallOptions = {},
): Promise<Answered> {
  return new Promise((resolve) => {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
    let head: grpc.Metadata | null = null;
    let answered: { error: grpc.ServiceError | null; value: Buffer | null } | null = null;
    let status: grpc.StatusObject | null = null;
    const settle = (): void => {
      if (answered !== null && status !== null) resolve({ ...answered, head, status });
    };
    const call = client.unary(message, metadata, options, (error, value) => {
      answered = { error, value: value ?? null };
      settle();
    });
    call.on('metadata', (given: grpc.Metadata) => {
      head = given;
    });
    call.on('status', (given: grpc.StatusObject) => {
      status = given;
      settle();
    });
  });
}
