// Another client, in a thread of its own so that the attackers' work does not slow it: asks something plain all the time, and
// tells how long it waited for each answer.
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const body = JSON.stringify({ query: '{ viewer { roles did } }' });
let waits = [];
parentPort.on('message', () => {
  parentPort.postMessage(waits);
  waits = [];
});

function ask() {
  const started = performance.now();
  const asked = request(workerData, { agent, method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
    response.resume().on('end', () => {
      waits.push(response.statusCode === 200 ? performance.now() - started : Infinity);
      setTimeout(ask, 5);
    });
  });
  asked.on('error', () => {
    waits.push(Infinity);
    setTimeout(ask, 5);
  });
  asked.end(body);
}
ask();
