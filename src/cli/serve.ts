import { basename } from 'node:path';
import type { Command } from 'commander';
import { listenForApi, movedLine } from './api_port.ts';
import type { ApiListening } from '../control/api/listen.ts';
import type { Listening } from '../edgeproof.ts';
import { openGeoipDatabases } from './geoip_databases.ts';
import { cloudFromEnvironment } from './cloud_environment.ts';
import { aboutStreams, streamListening } from './stream_options.ts';
import { type Management, openManagement } from '../control/management.ts';
import { storeName } from '../control/store/postgres.ts';
import { type DecidingOptions, type VerbInspector, verbInspector } from './inspector.ts';
import { STOPPING, cutLine, untilShutdown } from './shutdown.ts';
import { limitHeap } from './heap_limit.ts';
import { USUAL_SERVICE } from './service_name.ts';
import { aboutAgents, agentListening } from './agent_options.ts';
import { type RequestLog, heardBy, requestLog } from './request_log.ts';
import { voiceTo } from './voice.ts';
import { dataFolder, localIssuer } from './local_authority.ts';
import { otlpExport } from './otlp_option.ts';
import type { Family } from '../server/admin_metrics.ts';
import type { SharedState } from '../shared_state/port.ts';
import { sharedState } from './shared_options.ts';
import { eventFolder } from './folders.ts';
import { apiCertificate, sealingKeysIn } from './serve_files.ts';
import { type ServeOptions, serveOptions } from './serve_options.ts';
import { EXIT } from './exit_codes.ts';
import { refuseStale, standingOf, whenStale } from './node_standing.ts';
import { endingWith, isQuiet, isWorker, untilOrdered, whenKeysOrdered } from './workers.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { ignoreClosedOutput, stdout } from './output.ts';

type EdgeListenOptions = NonNullable<Parameters<Management['edge']['listen']>[0]>;

export function register(command: Command): void {
  serveOptions(command).action(async (options: ServeOptions) => {
    ignoreClosedOutput();
    refuseStale(options);
    if (options.workers > 1 && !isWorker) {
      const { superviseServe } = await import('./serve_workers.ts');
      process.exitCode = await superviseServe(options, sealingKeysIn(options), say);
      return;
    }
    process.exitCode = isWorker ? await endingWith(() => serveShared(options)) : await serveShared(options);
  });
}

async function serveShared(options: ServeOptions): Promise<number> {
  const joined = isWorker ? await (await import('./worker_sharing.ts')).joinFirst() : null;
  const shared = (await sharedState(options, say)) ?? joined?.state ?? null;
  return serve(options, shared).finally(() => void shared?.close());
}

/** Serves until a signal, or until the first process orders the end; returns the exit code. */
async function serve(options: ServeOptions, shared: SharedState | null): Promise<number> {
  const { serviceName = USUAL_SERVICE } = options;
  limitHeap();
  let management: Management | null = null;
  let api: ApiListening;
  let edge: Listening | null = null;
  let otlp: ReturnType<typeof otlpExport> | null = null;
  let inspector: VerbInspector | null = null;
  let about: readonly string[] = [];
  try {
    const tls = apiCertificate(options);
    const eventFiles = options.eventFiles === undefined ? null : eventFolder(options.eventFiles);
    otlp = otlpExport(options, serviceName, say);
    const deciding = await decidingOf(options);
    inspector = await inspectorBeside(options, deciding, () => management);
    management = await openManagement({
      storePath: options.store,
      sealing: sealingKeysIn(options),
      service: serviceName,
      emptyAsJson: options.jsonForEmpty === true,
      ...(options.rateLimit !== undefined && { requestsPerMinute: options.rateLimit }),
      ...(eventFiles !== null && { eventFiles }),
      retention: {
        ...(options.keepAudit !== undefined && { auditDays: options.keepAudit }),
        ...(options.keepUndelivered !== undefined && { undeliveredDays: options.keepUndelivered }),
      },
      cloud: cloudFromEnvironment(process.env),
      allowPrivateCallbacks: options.allowPrivateCallbacks === true,
      ...(options.agents !== undefined && { agents: { reservedOnly: true } }),
      issuer: localIssuer(dataFolder(process.env, process.platform)),
      addressDatabases: options.addressDatabase.map((file) => basename(file)),
      edge: {
        ...deciding,
        allowPrivateFetch: options.allowPrivateFetch === true,
        ...otlp.edge,
        ...logOf(options, otlp, () => management),
        ...inspector?.edge,
        ...(shared && { shared }),
      },
    });
    await shared?.join(management.edge.runtime.logins);
    const { host, strictPort = false } = options;
    edge = await management.edge.listen(listeningOf(options, management));
    api = await listenForApi(management, { host, port: options.apiPort, strictPort, ...(tls && { tls }) });
    about = (await inspector?.listen(edge)) ?? [];
  } catch (error) {
    await inspector?.close();
    await edge?.close(0);
    if (management !== null) sayFirstKey(management);
    await management?.close();
    await otlp?.close();
    throw error;
  }
  if (!isQuiet) sayReady(options, management, { edge, api, about });
  const code = await untilStopped(management, edge, options);
  await inspector?.close();
  const [{ cut }] = await Promise.all([edge.close(options.drain), api.close(options.drain)]);
  if (cut > 0) say(cutLine(cut, options.drain));
  await management.close();
  await otlp.close();
  return code;
}

interface Ready {
  readonly edge: Listening;
  readonly api: ApiListening;
  /** Lines about the inspector. */
  readonly about: readonly string[];
}

function sayReady(options: ServeOptions, management: Management, { edge, api, about }: Ready): void {
  say(`\n  edgeproof  edge ${edge.url}  management API ${api.url}  (${api.url}/docs)`);
  for (const line of movedLine('port', options.port, edge.port)) say(`  ${line}`);
  for (const line of movedLine('API port', options.apiPort, api.port)) say(`  ${line}`);
  for (const line of [...aboutStreams(management.edge.config, edge), ...about]) say(`  ${line}`);
  for (const line of aboutAgents(edge, '<authtoken>')) say(`  ${line}`);
  say(`  store ${storeName(options.store)}`);
  sayFirstKey(management);
  say('');
}

function listeningOf(options: ServeOptions, { store, ingressCertificate }: Management): EdgeListenOptions {
  const { host, port, edgePorts, strictPort = false } = options;
  const { admin, ...streams } = streamListening(options, say);
  return {
    host,
    port,
    strictPort,
    edgePorts,
    ...streams,
    ...(admin && { admin: { ...admin, ...standingOf(store.nodes, options.maxStale) } }),
    ...agentListening(options, ingressCertificate),
  };
}

/** Until a signal or an order, or until what is served is older than allowed; keys are read again on SIGHUP. */
async function untilStopped(
  { store, reloadKeys }: Management,
  { families }: Listening,
  { maxStale }: ServeOptions,
): Promise<number> {
  const reload = (): void => {
    reloadKeys().then(
      () => say('the keys of the secrets and of the sessions were read again'),
      (error: unknown) => say(errorText(error)),
    );
  };
  if (isWorker) whenKeysOrdered(reload);
  else process.on('SIGHUP', reload);
  const staleness = whenStale(store.nodes, maxStale);
  const stale = staleness.stale.then(() => {
    say(`the store was unreachable for ${maxStale! / 1_000} s (--max-stale): stopping`);
    return EXIT.runtime;
  });
  const counts = (): Family[] => [...families(), ...(standingOf(store.nodes, maxStale).families?.() ?? [])];
  const code = await Promise.race([isWorker ? untilOrdered(counts) : untilShutdown(say, STOPPING), stale]);
  staleness.stop();
  process.off('SIGHUP', reload);
  return code;
}

/** The log of requests and connections that `--log` asks for, beside the listeners of OTLP. */
function logOf(
  { log }: ServeOptions,
  otlp: ReturnType<typeof otlpExport>,
  management: () => Management | null,
): Partial<RequestLog> {
  const nameOf = (id: string): string => management()?.nameOf(id) ?? id;
  const needs = { nameOf, unreached: () => undefined };
  return log === true ? heardBy(requestLog(voiceTo(stdout.stream()), needs), otlp.edge) : {};
}

async function decidingOf({ addressDatabase, passUnsimulated }: ServeOptions): Promise<DecidingOptions> {
  const geoipDatabases = await openGeoipDatabases(addressDatabase, process.cwd());
  return { geoipDatabases, passUnsimulated: passUnsimulated === true };
}

/** The inspector, which an IP restriction of the type `dashboard` may refuse; refused while there is no store. */
function inspectorBeside(
  options: ServeOptions,
  deciding: DecidingOptions,
  management: () => Management | null,
): Promise<VerbInspector | null> {
  const allows = async (address: string): Promise<boolean> =>
    (await management()?.mayInspect(address)) === true;
  return verbInspector(options, { verb: 'serve', isDefault: false, files: () => [], allows, deciding });
}

/** The key is in no other place: it is shown even if the start fails later. */
function sayFirstKey({ firstKey }: Management): void {
  if (firstKey !== null) say(`\n  admin key, shown only once: ${firstKey}`);
}

function say(text: string): void {
  stdout.write(`${text}\n`);
}
