// A program with the published SDK, driven by its parent: each message is a body of an async function.
import { createRequire } from 'node:module';

let ngrok;
const kept = {};
process.on('message', (message) => void answer(message));

async function answer({ id, code, value }) {
  try {
    ngrok ??= createRequire(import.meta.url)('@ngrok/ngrok');
    const run = new (async () => undefined).constructor('ngrok', 'kept', 'value', code);
    process.send({ id, answer: (await run(ngrok, kept, value)) ?? null });
  } catch (error) {
    process.send({ id, error: error.message, errorCode: error.errorCode ?? null });
  }
}
