// Many connections at once, and what each does. The test looks at what becomes of everybody else meanwhile.
import { getIntrospectionQuery } from 'graphql';
import { INIT, frame, host, open, text } from './raw.mjs';

const INTROSPECTION = JSON.stringify({ query: getIntrospectionQuery() });
const PLAIN = JSON.stringify({ query: '{ viewer { did } }' });
const POST = (length) => `POST /graphql HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
const UPGRADE =
  `GET /graphql HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n` +
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n';
const subscribe = (id, query) => text({ id, type: 'subscribe', payload: { query } });
const many = (count, make) => Buffer.concat(Array.from({ length: count }, (_, n) => Buffer.from(make(n))));

// Writes the bytes one by one for as long as the connection is there.
function dribble(socket, bytes) {
  let at = 0;
  const timer = setInterval(() => (at < bytes.length ? socket.write(bytes.slice(at, (at += 1))) : clearInterval(timer)), 50);
  socket.on('close', () => clearInterval(timer));
}

export const crowds = [
  { name: 'four hundred connections that say nothing', connections: 400, act: () => {} },
  { name: 'two hundred that send headers byte by byte', connections: 200, act: (socket) => dribble(socket, POST(10)) },
  { name: 'two hundred that send a body byte by byte', connections: 200, act: (socket) => { socket.write(POST(1_000)); dribble(socket, ' '.repeat(1_000)); } },
  { name: 'two hundred that promise a megabyte', connections: 200, act: (socket) => socket.write(POST(1024 * 1024) + 'x'.repeat(1_000)) },
  { name: 'three hundred that ask and hang up', connections: 300, act: (socket) => { socket.write(POST(PLAIN.length) + PLAIN, () => socket.resetAndDestroy()); } },
  { name: 'ten that ask five times and do not read', connections: 10, act: (socket) => { socket.pause(); socket.write(many(5, () => POST(INTROSPECTION.length) + INTROSPECTION)); } },
  { name: 'three hundred sockets without an init', connections: 300, act: (socket) => socket.write(UPGRADE) },
  { name: 'two hundred sockets that stop within a frame', connections: 200, act: (socket) => { socket.write(UPGRADE); socket.write(INIT); socket.write(frame('x'.repeat(100), { length: 900_000n })); } },
  { name: 'forty sockets of a hundred subscriptions', connections: 40, act: (socket) => { socket.write(UPGRADE); socket.write(INIT); socket.write(many(100, (n) => subscribe(`s${n}`, 'subscription { changes { cursor } }'))); } },
  { name: 'ten sockets that ask five times and do not read', connections: 10, act: (socket) => { socket.pause(); socket.write(UPGRADE); socket.write(INIT); socket.write(many(5, (n) => subscribe(`q${n}`, getIntrospectionQuery()))); } },
];

export async function gather({ connections, act }) {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open()));
  sockets.forEach(act);
  return () => sockets.forEach((socket) => socket.destroy());
}
