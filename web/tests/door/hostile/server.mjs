// The server's process, as the system sees it: alive, how much it has computed, how much memory it has held.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const pid = process.env.WRITEWATCH_PID;
assert.ok(pid, 'WRITEWATCH_PID must name the process that WRITEWATCH_URL names, as scripts/with-server.sh does');

// The fields of /proc/…/stat after the name, which may hold anything: proc(5) counts them from 3.
const stat = () => {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
};
const field = (number) => Number(stat()[number - 3]);

// Linux counts them in hundredths of a second, whatever the machine.
export const cpuMs = () => (field(14) + field(15)) * 10;
export const startedAt = () => field(22);

export function memoryKb(what) {
  const line = readFileSync(`/proc/${pid}/status`, 'latin1').split('\n').find((text) => text.startsWith(`${what}:`));
  return Number(line.split(/\s+/)[1]);
}
