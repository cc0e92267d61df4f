// A connection of which the test writes every byte, and what came back on it.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { server } from '../support.mjs';

export const { hostname, port, host } = new URL(server);

export function open() {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  // A server that hangs up on us is what is looked for, not a failure of the test.
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('connect', () => resolve(socket)));
}

// The statuses of the whole responses in these bytes.
export function statuses(bytes) {
  const found = [];
  let rest = bytes.toString('latin1');
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const line = /^HTTP\/1\.[01] (\d{3})/.exec(rest);
    if (end < 0 || !line) return found;
    const length = /\r\ncontent-length: (\d+)/i.exec(rest.slice(0, end))?.[1];
    found.push(Number(line[1]));
    rest = rest.slice(end + 4 + Number(length ?? 0));
  }
}

// Writes what there is and waits until `count` responses are there, the server closes, or nothing happens for `quiet` ms.
export async function exchange(chunks, { count = 1, quiet = 1_000, half = false } = {}) {
  const socket = await open();
  const received = [];
  const done = new Promise((resolve) => {
    let timer;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => resolve('silent'), quiet);
    };
    soon();
    socket.on('data', (chunk) => {
      received.push(chunk);
      soon();
      if (statuses(Buffer.concat(received)).filter((status) => status >= 200 || status === 101).length >= count) resolve('answered');
    });
    socket.on('close', () => resolve('closed'));
  });
  for (const chunk of [chunks].flat()) socket.write(chunk);
  if (half) socket.end();
  const how = await done;
  const bytes = Buffer.concat(received);
  socket.destroy();
  return { how, statuses: statuses(bytes), text: bytes.toString('latin1') };
}

const HANDSHAKE = (headers = '') =>
  `GET /graphql HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n` +
  `sec-websocket-key: ${randomBytes(16).toString('base64')}\r\nsec-websocket-protocol: graphql-transport-ws\r\n${headers}\r\n`;

// A frame as a client sends it: masked, unless it is to be wrong.
export function frame(payload, { opcode = 1, fin = true, rsv = 0, mask = true, length } = {}) {
  const data = Buffer.from(payload);
  const said = length ?? BigInt(data.length);
  const head = [((fin ? 1 : 0) << 7) | (rsv << 4) | opcode];
  const masked = mask ? 0x80 : 0;
  if (said < 126n) head.push(masked | Number(said));
  else if (said < 65_536n) head.push(masked | 126, Number(said >> 8n), Number(said & 255n));
  else {
    const eight = Buffer.alloc(8);
    eight.writeBigUInt64BE(said);
    head.push(masked | 127, ...eight);
  }
  // A mask of zeros changes nothing, and is one.
  return Buffer.concat([Buffer.from(head), mask ? Buffer.alloc(4) : Buffer.alloc(0), data]);
}

export const text = (message, options) => frame(JSON.stringify(message), options);
export const INIT = text({ type: 'connection_init' });

// Opens a socket by hand, writes the frames, and waits for the code that the server closes with; `open` when it keeps quiet.
export async function frames(list, { quiet = 1_000, headers } = {}) {
  const socket = await open();
  let received = Buffer.alloc(0);
  let upgraded = false;
  let messages = 0;
  const done = new Promise((resolve) => {
    let timer;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => resolve({ closed: 'open' }), quiet);
    };
    soon();
    socket.on('data', (chunk) => {
      soon();
      received = Buffer.concat([received, chunk]);
      if (!upgraded) {
        const end = received.indexOf('\r\n\r\n');
        if (end < 0) return;
        upgraded = true;
        received = received.subarray(end + 4);
      }
      for (;;) {
        if (received.length < 2) return;
        const opcode = received[0] & 15;
        let length = received[1] & 127;
        let at = 2;
        if (length === 126) [length, at] = [received.length < 4 ? Infinity : received.readUInt16BE(2), 4];
        else if (length === 127) [length, at] = [received.length < 10 ? Infinity : Number(received.readBigUInt64BE(2)), 10];
        if (received.length < at + length) return;
        messages += 1;
        if (opcode === 8) return resolve({ closed: length >= 2 ? received.readUInt16BE(at) : 1005 });
        received = received.subarray(at + length);
      }
    });
    socket.on('close', () => resolve({ closed: 'gone' }));
  });
  socket.write(HANDSHAKE(headers));
  for (const bytes of [list].flat()) socket.write(bytes);
  const how = await done;
  socket.destroy();
  return { ...how, messages };
}
