export interface Delivering {
  readonly traffic: (event: object) => void;
  readonly changed: () => void;
  readonly statusOf: (id: string) => unknown;
  readonly close: () => Promise<void>;
}
export async function deliver(_: {
  store: unknown;
  nowMs: () => number;
  say: (text: string) => void;
}): Promise<Delivering> {
  return { traffic: () => {}, changed: () => {}, statusOf: () => ({ state: 'ok' }), close: async () => {} };
}
