// A server of a test's own, which it may stop and start again on the same address and database.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const target = process.env.CARGO_TARGET_DIR ?? new URL('../../../target', import.meta.url).pathname;
const binary = join(target, 'debug', 'writewatch');

export class OwnServer {
  #process;
  #folder;
  #listen = '127.0.0.1:0';

  async start() {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'writewatch-browser-'));
    const args = ['serve', '--database-url', `sqlite://${this.#folder}/books.db`, '--listen', this.#listen, '--log', 'error'];
    this.#process = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: this.#process.stdout })) {
      const url = /^writewatch listening on (.*)$/.exec(line)?.[1];
      if (url === undefined) continue;
      this.#listen = new URL(url).host;
      return url;
    }
    return assert.fail('the server ended before it was ready');
  }

  async stop(signal = 'SIGTERM') {
    const ended = once(this.#process, 'exit');
    this.#process.kill(signal);
    await ended;
  }

  async remove() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.stop('SIGKILL');
    await rm(this.#folder, { recursive: true });
  }
}
