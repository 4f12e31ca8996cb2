import { secretFraction } from '../crypto/random.ts';
import { carries } from '../edge/tunnels.ts';
import { placedOptions } from './binding/bind_place.ts';
import { type BindRequest, permitsAddress } from './binding/bind_request.ts';
import { type Bound, type BoundEndpoint, EndpointTable } from './binding/endpoint_table.ts';
import type { Refusal } from './binding/members.ts';
import type { AgentsEdge } from './endpoint_url.ts';

export interface EndpointsOptions {
  readonly nowMs: () => number;
  readonly newId: (prefix: string) => string;
  /** Why an address may not be bound; null if it may. */
  readonly refuseAddress?: ((bind: BindRequest) => Promise<Refusal | null>) | undefined;
}

/** Ports that are tried for TCP endpoints without one of their own. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
const PORTS_TRIED = 20;

/** The endpoints that agents have bound at a running edge. Changes are made one after the other. */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #table = new EndpointTable();
  #edge: AgentsEdge | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: EndpointsOptions) {
    this.#options = options;
  }

  attach(edge: AgentsEdge): void {
    this.#edge = edge;
  }

  /** Newest first. */
  all(): BoundEndpoint[] {
    return this.#table.all();
  }

  get(id: string): BoundEndpoint | undefined {
    return this.#table.get(id);
  }

  /** Names of the operator's backends that select tunnels with these labels; a backend without labels selects none. */
  backendsFor(labels: Readonly<Record<string, string>> | null): string[] {
    return Object.entries(this.#edge?.base().backends ?? {}).flatMap(([name, { tunnel_group: group }]) => {
      const wanted = group?.labels ?? {};
      return Object.keys(wanted).length > 0 && carries(labels, wanted) ? [name] : [];
    });
  }

  /** Resolves when all changes so far are done. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Binds an endpoint, or joins a pool. The options of the response name what was chosen. */
  bind(
    id: string,
    bind: BindRequest,
    acl: readonly string[],
    isOnline: () => boolean,
  ): Promise<{ readonly endpoint: BoundEndpoint; readonly opts: object } | Refusal> {
    return this.#inTurn(async () => {
      if (isOnline()) return refused(334, `The tunnel '${id}' is already online.`);
      if (!permitsAddress(acl, bind.host, bind.port))
        return refused(308, `The rules of the credential do not permit '${addressOf(bind)}'.`);
      const refusal = await this.#options.refuseAddress?.(bind);
      if (refusal !== undefined && refusal !== null) return refusal;
      const made = bind.port === null ? await this.#atFreePort(bind) : await this.#at(bind, bind.port);
      if ('number' in made) return made;
      made.tunnels++;
      const { host, port } = made.endpoint;
      return { endpoint: made.endpoint, opts: placedOptions(bind.proto, bind.opts, host, port) };
    });
  }

  /** One tunnel of the endpoint is gone; without any it is removed. */
  release(id: string): Promise<void> {
    return this.#inTurn(async () => {
      const gone = this.#table.release(id);
      if (gone !== null) this.#edge!.extend({ removed: [gone.config] });
    });
  }

  async #atFreePort(bind: BindRequest): Promise<Bound | Refusal> {
    let last: Bound | Refusal = refused(300, 'No port is free.');
    const first = Math.floor(secretFraction() * PORTS);
    for (let tried = 0; tried < PORTS_TRIED; tried++) {
      const port = FIRST_PORT + ((first + tried) % PORTS);
      if (this.#table.isTaken({ ...bind, port })) continue;
      last = await this.#at(bind, port);
      if ('endpoint' in last) return last;
    }
    return last;
  }

  async #at(bind: BindRequest, port: number): Promise<Bound | Refusal> {
    const edge = this.#edge!;
    const { nowMs, newId } = this.#options;
    const bound = this.#table.place(
      { ...bind, port },
      { base: edge.base(), pooled: edge.pooled(), newId: () => newId('ep'), nowMs: nowMs() },
    );
    if ('number' in bound || bound.tunnels > 0) return bound;
    try {
      edge.extend({ added: [bound.config] });
    } catch (fault) {
      this.#table.remove(bound);
      throw fault;
    }
    const { kind, host } = bind;
    const missing = (await edge.missingPorts()).find(
      (each) => each.port === port && (kind === 'tls' || each.host === host),
    );
    if (missing === undefined) {
      // Only now its port is known.
      bound.endpoint = { ...bound.endpoint, url: edge.urlOf(bound.endpoint) };
      return bound;
    }
    this.#table.remove(bound);
    edge.extend({ removed: [bound.config] });
    return refused(334, `${missing.problem}.`);
  }

  #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function addressOf({ host, port }: BindRequest): string {
  return port === null ? host : `${host}:${port}`;
}

function refused(number: number, message: string): Refusal {
  return { number, message };
}
