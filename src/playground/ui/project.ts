/** The project of the page: its texts, how it is shared, and what is decided of it. */
import { computed, effect, signal } from '@preact/signals';
import type { Answer, Question } from '../worker.ts';
import type { Decided, ProjectTexts } from '../engine.ts';
import { EXAMPLES } from './examples.ts';

export const EDGE = 'edge.yaml';
export const SCENARIO = 'edge.scenario.yaml';
/** A worker that takes longer is replaced: the configuration may be hostile to its own user. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 120;

export const texts = signal<ProjectTexts>(EXAMPLES[0]!.texts);
export const decided = signal<Decided | null>(null);
/** Why nothing could be decided; null otherwise. */
export const failure = signal<string | null>(null);
export const isBusy = signal(true);

/** Findings of each file. */
export const findings = computed(() => decided.value?.diagnostics ?? []);

export function edit(name: string, text: string): void {
  if (texts.peek()[name] !== text) texts.value = { ...texts.peek(), [name]: text };
}

let worker: Worker | null = null;
let asked = 0;
let patience: number | undefined;

function ask(question: Omit<Question, 'id'>): void {
  const id = ++asked;
  worker ??= startedWorker();
  window.clearTimeout(patience);
  patience = window.setTimeout(() => {
    worker?.terminate();
    worker = null;
    isBusy.value = false;
    failure.value = `The cases took more than ${PATIENCE_MS / 1000} s and were stopped.`;
  }, PATIENCE_MS);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origins
  worker.postMessage({ ...question, id } satisfies Question);
}

function startedWorker(): Worker {
  const started = new Worker(new URL('worker.js', document.baseURI), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<Answer>) => {
    if ('isWhole' in data) document.documentElement.dataset['engine'] = 'whole';
    if ('isWhole' in data || data.id !== asked) return;
    window.clearTimeout(patience);
    isBusy.value = false;
    if ('failed' in data) failure.value = data.failed;
    else {
      failure.value = null;
      decided.value = data.decided;
    }
  };
  started.addEventListener('error', (event) => {
    isBusy.value = false;
    failure.value = event.message;
  });
  return started;
}

/** Decides after a pause of the keyboard. */
export function decideOnChange(): void {
  let timer: number | undefined;
  effect(() => {
    const now = texts.value;
    isBusy.value = true;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => ask({ texts: now, scenario: SCENARIO }), PAUSE_MS);
  });
}

/** The project as the fragment of a URL: JSON, deflated, in base64url. Servers never see it. */
export async function fragmentOf(project: ProjectTexts): Promise<string> {
  const bytes = await through(
    new TextEncoder().encode(JSON.stringify(project)),
    new CompressionStream('deflate-raw'),
  );
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

const LIMIT_BYTES = 2_000_000;

/** The project in a fragment; null if it has none. */
export async function projectIn(fragment: string): Promise<ProjectTexts | null> {
  try {
    const base64 = fragment.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const json: unknown = JSON.parse(
      new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))),
    );
    if (typeof json !== 'object' || json === null || !(SCENARIO in json)) return null;
    const entries = Object.entries(json).filter(([, text]) => typeof text === 'string');
    return Object.fromEntries(entries) as ProjectTexts;
  } catch {
    return null;
  }
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    total += piece.value.length;
    if (total > LIMIT_BYTES) throw new RangeError('the project is too large');
    pieces.push(piece.value);
  }
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
