import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type LocatedDocument, valueAt } from '../config_file/document.ts';
import { readDocument } from '../config_file/read.ts';
import { callbackPost } from '../clients/callback_post.ts';
import { guardedDial } from '../clients/guarded_dial.ts';
import { kafkaQueue } from '../clients/kafka.ts';
import { natsQueue } from '../clients/nats.ts';
import { joinGroup } from '../clients/nats_consumer.ts';
import { targetSchema } from '../control/resources/event_targets.ts';
import { issueMessage } from '../control/resources/issue_messages.ts';
import { formAt } from '../control/resources/parse.ts';
import { DEFAULT_LIMITS } from '../events/batches.ts';
import { groupDelivery } from '../events/group_delivery.ts';
import { type TargetSettings, targetOf } from '../events/targets.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { hasErrors, pointerTo, pointersFrom } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { cloudFromEnvironment } from './cloud_environment.ts';
import { natsPlace } from './event_sink.ts';
import { eventFolder } from './folders.ts';
import { readDuration } from './option_values.ts';
import { untilShutdown } from './shutdown.ts';
import { ignoreClosedOutput, stderr, stdout } from './output.ts';

interface Options {
  readonly to: string;
  readonly group: string;
  readonly ackWait: number;
  readonly eventFiles?: string;
}

const ACK_WAIT_MS = 30_000;

export function register(command: Command): void {
  command
    .argument('<queue>', 'the queue that nodes write to, such as nats://localhost:4222/edge.events')
    .requiredOption(
      '--to <file>',
      'the destination: a file in JSON or YAML with a `target` as in the management API',
    )
    .option('--group <name>', 'processes with the same name share the events', 'edgeproof')
    .addOption(
      new Option('--ack-wait <duration>', 'how long a process may have events before another gets them')
        .argParser(readDuration)
        .default(ACK_WAIT_MS, '30s'),
    )
    .option('--event-files <folder>', 'folder for destinations that are files')
    .action(async (queue: string, options: Options) => {
      ignoreClosedOutput();
      process.exitCode = await deliver(queue, options);
    });
}

const RECONNECT_MS = 1_000;

async function deliver(queue: string, options: Options): Promise<number> {
  const settings = natsPlace(queue);
  const reach = { own: [], allowPrivate: true };
  const dial = guardedDial(reach);
  const target = targetIn(options, dial);
  const { most, lingerMs } = {
    most: 2 * (target.limits ?? DEFAULT_LIMITS).events,
    lingerMs: target.limits?.lingerMs ?? 0,
  };
  const stopped = untilShutdown(say);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  let isAway = false;
  while (!stopping.signal.aborted) {
    const delivery = groupDelivery(target, { say, random: Math.random });
    const group = { group: options.group, ackMs: options.ackWait + lingerMs, most };
    try {
      const joined = await joinGroup(settings, dial, group, delivery.take);
      say(
        isAway
          ? 'the queue is back'
          : `delivering ${settings.subject} of ${settings.servers[0]} as ${options.group}`,
      );
      isAway = false;
      await Promise.race([joined.over, stopped]);
      joined.leave();
      await delivery.close();
      await joined.close();
    } catch (error) {
      if (!isAway) say(`the queue ${settings.servers[0]} cannot be used: ${errorText(error)}; trying again`);
      isAway = true;
      await Promise.race([setTimeout(RECONNECT_MS), stopped]);
    }
  }
  await target.close();
  return stopped;
}

/** Throws FileError if the file has no target that can be used. */
function targetIn({ to, eventFiles }: Options, dial: ReturnType<typeof guardedDial>) {
  const document = documentIn(to);
  const written = valueAt(document.value, '/target');
  if (written === undefined)
    throw new FileError(`${placeIn(document, '')}: there is no \`target\`; ${KIND.smallest}`);
  const { data, error } = targetSchema.safeParse(written);
  if (error !== undefined) {
    const issue = error.issues[0]!;
    const pointer = (issue.path as (string | number)[]).reduce(pointerTo, '/target');
    const path = ['target', ...issue.path];
    const message = issueMessage(
      { ...issue, path },
      { target: written },
      path,
      formAt(targetSchema, issue.path),
    );
    throw new FileError(`${placeIn(document, pointer)}: ${message}`);
  }
  const count = Object.keys(data).length;
  if (count !== 1)
    throw new FileError(`${placeIn(document, '/target')}: a file has exactly one target, not ${count}`);
  const { aws, endpoint } = cloudFromEnvironment(process.env);
  const made = targetOf('deliver', data as TargetSettings, {
    nowMs: Date.now,
    post: callbackPost({ own: [], allowPrivate: true }),
    queues: {
      nats: (settings) => natsQueue(settings, dial),
      kafka: (settings) => kafkaQueue(settings, dial),
    },
    ...(aws && { aws: { credentials: aws } }),
    ...(endpoint && { endpoint }),
    ...(eventFiles !== undefined && { eventFiles: eventFolder(eventFiles) }),
    say: (text) => stdout.write(text),
  });
  if (made.problem !== null) throw new FileError(`${placeIn(document, '/target')}: ${made.problem}`);
  return made;
}

const KIND = {
  called: 'a file of a target',
  keys: '`target`',
  smallest: 'a minimal file is `{"target": {"debug": {"log": true}}}`',
  prefix: 'edge',
};

/** Throws FileError with the places of what cannot be read. */
function documentIn(path: string): LocatedDocument {
  const { document, diagnostics } = readDocument({ name: path, text: readText(path) }, KIND);
  if (document === null || hasErrors(diagnostics))
    throw new FileError(renderDiagnostics(diagnostics, { color: false }).trimEnd());
  return document;
}

/** Where the text of the nearest part of a file is that has a place: `target.json:1:12`. */
function placeIn({ source, spanOf }: LocatedDocument, pointer: string): string {
  const [span] = pointersFrom(pointer).flatMap((each) => spanOf(each) ?? []);
  const { line, column } = positionAt(linesOf(source!.text), span?.start ?? 0);
  return `${source!.name}:${line}:${column}`;
}

function say(line: string): void {
  stderr.write(`${line}\n`);
}
